"""Which tests a changed file or function concerns: those whose last traced run came through it.

What no trace tells (a module that nobody was seen to come through, code outside functions) is left to imports.
It must not know who runs the tests.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path, PurePosixPath
from sys import intern

from greenloop import sources, syntax, workspace
from greenloop.core.records import Reach

# Functions that are remembered in all, one for each test that reaches it: some 20 MB at most.
ENTRIES = 200_000
# Of one test, the nearest.
MOST = 2_000


class Reached:
    """By test id, the functions of the workspace that its last traced run called.

    Bounded: beyond `entries` functions in all, the tests that were traced longest ago are forgotten.
    """

    def __init__(self, entries: int = ENTRIES) -> None:
        self._entries, self._size = entries, 0
        self._functions: OrderedDict[str, frozenset[tuple[str, str]]] = OrderedDict()
        self._whole: set[str] = set()
        # How many tests call each function, by path.
        self._callers: dict[str, Counter[str]] = {}

    def __contains__(self, case: str) -> bool:
        return case in self._functions

    def put(self, case: str, hits: Sequence[Reach]) -> None:
        """Takes what a test reached, nearest first, in place of what was known of it."""
        self._drop(case)
        own = case.split("::", 1)[0]
        names = [(intern(hit.path), intern(hit.name)) for hit in hits if hit.path != own]
        found = frozenset(names[:MOST])
        self._functions[case] = found
        for path, name in found:
            self._callers.setdefault(path, Counter())[name] += 1
        self._size += len(found) + 1
        while self._size > self._entries and len(self._functions) > 1:
            oldest = next(iter(self._functions))
            self._drop(oldest)
            self._whole.discard(oldest.split("::", 1)[0])

    def through(self, path: str, qualname: str = "") -> list[str]:
        """The tests that came through a file, or through one function of it; those traced first come first."""
        if not qualname:
            return [case for case, found in self._functions.items() if any(hit[0] == path for hit in found)]
        exact = self._calling({(path, qualname)})
        # Before Python 3.11 code knows only the last part of its name.
        return exact or self._calling({(path, qualname.rpartition(".")[2])})

    def functions(self, path: str) -> Collection[str]:
        """The functions of a file that tests came through; asked for at every keystroke."""
        return self._callers.get(path, {}).keys()

    def knows(self, path: str) -> bool:
        """Whether the reach of all tests of a test file is known."""
        return path in self._whole

    def keep(self, path: str, cases: Collection[str]) -> None:
        """These are the tests of a test file, all of them traced: others are there no more."""
        for case in [case for case in self._functions if case.split("::", 1)[0] == path and case not in cases]:
            self._drop(case)
        if cases:
            self._whole.add(path)
        else:
            self._whole.discard(path)

    def _calling(self, functions: set[tuple[str, str]]) -> list[str]:
        return [case for case, found in self._functions.items() if found & functions]

    def _drop(self, case: str) -> None:
        found = self._functions.pop(case, None)
        if found is None:
            return
        self._size -= len(found) + 1
        for path, name in found:
            self._callers[path][name] -= 1
            if not self._callers[path][name]:
                del self._callers[path][name]


def concerned(root: Path, path: str, reached: Reached, *, inner: bool = False) -> list[str]:
    """Selectors of the tests that a change of this file concerns; test files whole, others by test id.

    `inner`: the change is known to lie inside functions, so that the traces tell all of it; else, and where nobody was
    seen to come through, the test files that import the file are added, for which the workspace is read.
    Empty for what is no Python file.
    """
    if not path.endswith(".py"):
        return []
    patterns = sources.file_patterns(root)
    if PurePosixPath(path).name == "conftest.py":
        return beneath(root, path, patterns)
    found = reached.through(path)
    if sources.is_test_file(path, patterns):
        return [path, *(case for case in found if case.split("::", 1)[0] != path)]
    if not inner or not found:
        found += workspace.importers(root, path, patterns)
    return found


def outline(text: str, path: str) -> int:
    """A number that stays the same while a file changes inside its functions only."""
    found = [each for each in syntax.definitions(text, path) if each.kind == "function"]
    inside = {line for each in found for line in range(each.start, each.end + 1)}
    rows = tuple(row for number, row in enumerate(syntax.lines(text), 1) if number not in inside and row.strip())
    return hash((rows, tuple(each.qualname for each in found)))


def beneath(root: Path, path: str, patterns: Sequence[str]) -> list[str]:
    """The test files in the folder of a conftest and below it."""
    folder = PurePosixPath(path).parent
    found = (file for file in workspace.python_files(root) if sources.is_test_file(file, patterns))
    return [file for file in found if PurePosixPath(file).is_relative_to(folder)]


def by_file(selectors: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The selectors of each test file, in order; a whole file includes its tests."""
    found: dict[str, dict[str, None]] = {}
    for selector in selectors:
        found.setdefault(selector.split("::", 1)[0], {})[selector] = None
    return {file: (file,) if file in mine else tuple(mine) for file, mine in found.items()}
