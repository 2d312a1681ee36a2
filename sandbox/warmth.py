"""Third-party packages that are imported before the fork, because the project's tests import them and they are slow."""

import importlib.metadata
import inspect
import json
import os
import select
import signal
import sys
import time

WORTH = 0.01  # seconds of import time from which on it pays
PATIENCE = 30.0  # seconds for the trial of all of them
PLUGIN = "it has a plugin for pytest"
OWN = ("pytest", "_pytest", "pluggy")  # here from the start, if not every part of them
INSTALLED = ("site-packages", "dist-packages")


def loaded(before):
    """Top-level names of installed packages that were imported since `before` (names of modules), in order."""
    names = [name.partition(".")[0] for name in sys.modules if name not in before and name.partition(".")[0] not in OWN]
    return [name for name in dict.fromkeys(names) if installed(sys.modules.get(name))]


def installed(module):
    """Whether a module came from a folder of installed packages."""
    path = getattr(getattr(module, "__spec__", None), "origin", None)
    return isinstance(path, str) and any(part in INSTALLED for part in path.split(os.sep))


def of_workspace(root):
    """Names of modules of this process that lie in the workspace and are not installed there."""
    found = []
    for name, module in list(sys.modules.items()):
        path = getattr(getattr(module, "__spec__", None), "origin", None)
        if isinstance(path, str) and path.startswith(root + os.sep) and not installed(module):
            found.append(name)
    return found


def threads():
    """How many threads this process has, as the kernel counts."""
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return 1


def worth(names, root, trial):
    """Which of these to import: ([harmless ones], [those with plugins for pytest], {left out: why}).

    With `trial` a forked process imports them first and tells what each costs, and whether it starts threads or drags
    in code of the workspace: a process that has threads must not be forked, and the workspace's code must not be in it.
    Plugins, and what drags them in, need a pytest session first: its import hook rewrites their assertions, and of
    plugins that were imported in another way pytest warns.
    """
    names = [name for name in names if name not in sys.modules]
    told = _trial(names, root) if trial and names else dict.fromkeys(names, (WORTH, ""))
    plain, rewritten, left_out = [], [], {}
    for name in names:
        seconds, problem = told.get(name, (0.0, "its trial did not end"))
        if seconds < WORTH or problem not in ("", PLUGIN):
            left_out[name] = problem or "it takes %d ms" % (1000 * seconds)
        else:
            (rewritten if problem else plain).append(name)
    return plain, rewritten, left_out


def take(names):
    """Imports them, whatever it costs; returns {left out: why}."""
    left_out = {}
    for name in names:
        try:
            __import__(name)
        except BaseException as error:
            left_out[name] = "%s: %s" % (type(error).__name__, error)
    return left_out


def index():
    """Has `inspect` look at every module once: a failing test's traceback asks it which file belongs to which."""
    inspect.getmodule(index.__code__)


def _trial(names, root):
    """{name: (seconds, why not or "")} as a forked process saw them, one after the other."""
    told_in, told_out = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(told_in)
            rewritten = plugins().difference(sys.modules)
            for name in sorted(names, key=rewritten.__contains__):  # plugins last, or nobody knows who drags them in
                os.write(told_out, (json.dumps([name, *_tried(name, root, rewritten)]) + "\n").encode())
        finally:
            os._exit(0)
    os.close(told_out)
    data, until = b"", time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if not select.select([told_in], [], [], max(0.0, until - time.monotonic()))[0]:
            break
        part = os.read(told_in, 65536)
        if not part:
            break
        data += part
    os.close(told_in)
    try:
        os.kill(child, signal.SIGKILL)
    except OSError:
        pass
    os.waitpid(child, 0)
    lines = [json.loads(line) for line in data.split(b"\n")[:-1]]
    return {name: (seconds, problem) for name, seconds, problem in lines}


def plugins():
    """Names of modules and packages whose assertions pytest rewrites, because a plugin came with them."""
    found = set()
    for distribution in importlib.metadata.distributions():
        if any(point.group == "pytest11" for point in distribution.entry_points):
            for file in distribution.files or ():
                if file.suffix == ".py" and len(file.parts) <= 2:
                    found.add(file.parts[0] if len(file.parts) == 2 else file.stem)
            found.update(point.value.split(".")[0].split(":")[0] for point in distribution.entry_points)
    return found


def _tried(name, root, rewritten):
    began = time.perf_counter()
    try:
        __import__(name)
    except BaseException as error:
        return 0.0, "%s: %s" % (type(error).__name__, str(error)[:200])
    seconds = time.perf_counter() - began
    if threads() != 1:
        return seconds, "it starts threads"
    foreign = of_workspace(root)
    if foreign:
        return seconds, "it imports %s of the workspace" % foreign[0]
    return seconds, PLUGIN if rewritten.intersection(sys.modules) else ""
