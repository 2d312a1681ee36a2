"""Says what tests have at the moment: files, and objects under a name. Gives changed files another wrong state.

It must not know what follows from a change.
"""

import collections
import contextlib
import itertools
import os
import pathlib
import stat
import traceback

from apart_assertions import digest
from apart_rules import solid_base
from apart_values import attributes_of
from apart_wrong import CHANCE

MOST_FILES, MOST_BYTES = 2000, 1 << 16  # that are looked at, and of a file that is read
MOST_NAMED = 5000  # values that tests hold


def held_by_tests(is_test_module):
    """Yields what tests have under a name at the moment: of a function, a module or an object of theirs.

    What is in containers counts as well, at any depth.
    """
    found, todo = set(), collections.deque()
    for frame, _ in traceback.walk_stack(None):
        if is_test_module(str(frame.f_globals.get("__name__"))):
            names = {**frame.f_globals, **frame.f_locals}
            todo += [value for name, value in names.items() if not name.startswith("__")]
    while todo and len(found) < MOST_NAMED:
        value = todo.popleft()
        if id(value) in found:
            continue
        found.add(id(value))
        yield value
        if type(value) in (list, tuple, set, dict, collections.deque):
            todo += value.values() if type(value) is dict else value
        elif is_test_module(str(type(value).__module__)):
            todo += attributes_of(value).values()


def contents(value):
    """Digests of what is in a container, whatever their order."""
    base = solid_base(type(value))
    return sorted(map(digest, base.items(value) if issubclass(base, dict) else base.__iter__(value)))


def shorten(value, before):
    """Takes something out of a container, such as a deque, that holds other things than before; fills an empty one."""
    base = solid_base(type(value))
    if contents(value) == before:
        return
    if base.__len__(value):
        (base.popitem if issubclass(base, dict) else base.pop)(value)
    elif issubclass(base, dict):
        base.__setitem__(value, None, None)
    else:
        (base.add if base is set else base.append)(value, 1)


def files_below(folder):
    """{path: what tells a changed file from itself} of the files and folders in a folder, up to a limit."""
    paths = (os.path.join(each, name) for each, folders, names in os.walk(folder) for name in (*folders, *names))
    found = {}
    for path in itertools.islice(paths, MOST_FILES):
        with contextlib.suppress(OSError):  # it is gone
            status, said = os.lstat(path), None
            if stat.S_ISREG(status.st_mode):
                if status.st_size <= MOST_BYTES:
                    said = hash(pathlib.Path(path).read_bytes())  # times are those of a clock with few ticks
                found[path] = (status.st_mode, status.st_ino, status.st_size, status.st_ctime_ns, said)
            elif stat.S_ISDIR(status.st_mode):
                found[path] = (status.st_mode, status.st_ino)
    return found


def make_wrong(path, before, after):
    """Changes a file once more, and its mode where that has changed; gives back one that is gone."""
    if stat.S_ISDIR((after or before)[0]):
        path.mkdir(parents=True, exist_ok=True)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"%d%s" % (CHANCE.randint(1_000, 9_999), path.read_bytes() if after else b""))
    if before and after and before[0] != after[0]:
        path.chmod(stat.S_IMODE(after[0]) ^ stat.S_IXGRP)
