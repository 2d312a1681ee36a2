"""Test impact analysis: a change affects the tests whose last traced run executed it.

Imports decide for code that traces do not cover (a module that no test was seen to call, code outside functions).
This module must not know who runs the tests.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from sys import intern

from greenloop.project import sources, workspace
from greenloop.project.syntax import definitions
from greenloop_sandbox.report.traces import ReachedFunction

# Functions remembered in total, counted once for each test that reaches them: some 20 MB at most.
ENTRIES = 200_000
# Functions remembered for one test, the nearest first.
MOST = 2_000


class Coverage:
    """The workspace functions that each test's last traced run called, by test id.

    Bounded: beyond `entries` functions in total, the tests traced longest ago are forgotten.
    """

    def __init__(self, entries: int = ENTRIES) -> None:
        self._entries, self._size = entries, 0
        self._functions: OrderedDict[str, frozenset[tuple[str, str]]] = OrderedDict()
        self._whole: set[str] = set()
        # How many tests call each function, by path.
        self._callers: dict[str, Counter[str]] = {}

    def __contains__(self, case: str) -> bool:
        return case in self._functions

    def record(self, case: str, hits: Sequence[ReachedFunction]) -> None:
        """Replaces the functions that a test reached, nearest first."""
        self._drop(case)
        own_file = case.split("::", 1)[0]
        names = [(intern(hit.path), intern(hit.name)) for hit in hits if hit.path != own_file]
        reached = frozenset(names[:MOST])
        self._functions[case] = reached
        for path, name in reached:
            self._callers.setdefault(path, Counter())[name] += 1
        self._size += len(reached) + 1
        while self._size > self._entries and len(self._functions) > 1:
            oldest = next(iter(self._functions))
            self._drop(oldest)
            self._whole.discard(oldest.split("::", 1)[0])

    def tests_through(self, path: str, qualname: str = "") -> list[str]:
        """The tests that reached a file, or one function of it, in the order in which they were traced."""
        if not qualname:
            return [case for case, functions in self._functions.items() if any(hit[0] == path for hit in functions)]
        exact = self._tests_calling({(path, qualname)})
        # Before Python 3.11 a code object has only the last part of its qualified name.
        return exact or self._tests_calling({(path, qualname.rpartition(".")[2])})

    def functions(self, path: str) -> Collection[str]:
        """The functions of a file that tests reached. Called at every keystroke."""
        return self._callers.get(path, {}).keys()

    def is_complete(self, path: str) -> bool:
        """Were all tests of a test file traced?"""
        return path in self._whole

    def mark_complete(self, path: str, cases: Collection[str]) -> None:
        """Marks `cases` as all tests of a test file, each traced, and forgets the file's other tests."""
        for case in [case for case in self._functions if case.split("::", 1)[0] == path and case not in cases]:
            self._drop(case)
        if cases:
            self._whole.add(path)
        else:
            self._whole.discard(path)

    def _tests_calling(self, functions: set[tuple[str, str]]) -> list[str]:
        return [case for case, reached in self._functions.items() if reached & functions]

    def _drop(self, case: str) -> None:
        reached = self._functions.pop(case, None)
        if reached is None:
            return
        self._size -= len(reached) + 1
        for path, name in reached:
            self._callers[path][name] -= 1
            if not self._callers[path][name]:
                del self._callers[path][name]


def affected_tests(root: Path, path: str, coverage: Coverage, *, inside_functions: bool = False) -> list[str]:
    """Selectors of the tests that a change to this file affects: paths of whole test files, ids of single tests.

    `inside_functions`: the change lies inside functions, so that traces cover all of it. Otherwise, and if no test was
    seen to reach the file, the test files that import it are added, for which the workspace is read.
    Empty if the file is not a Python file.
    """
    if not path.endswith(".py"):
        return []
    patterns = sources.file_patterns(root)
    if PurePosixPath(path).name == "conftest.py":
        return files_below(root, path, patterns)
    selectors = coverage.tests_through(path)
    if sources.is_test_file(path, patterns):
        return [path, *(case for case in selectors if case.split("::", 1)[0] != path)]
    if not inside_functions or not selectors:
        selectors += workspace.importing_tests(root, path, patterns)
    return selectors


def outline_hash(text: str, path: str) -> int:
    """A hash that stays the same while a file changes only inside its functions."""
    functions = [each for each in definitions.find_definitions(text, path) if each.kind == "function"]
    covered_lines = {line for each in functions for line in range(each.start, each.end + 1)}
    outer_lines = tuple(
        row
        for number, row in enumerate(definitions.split_lines(text), 1)
        if number not in covered_lines and row.strip()
    )
    return hash((outer_lines, tuple(each.qualname for each in functions)))


def files_below(root: Path, path: str, patterns: Sequence[str]) -> list[str]:
    """The test files in the folder of a conftest and in its subfolders."""
    folder = PurePosixPath(path).parent
    test_files = (file for file in workspace.python_files(root) if sources.is_test_file(file, patterns))
    return [file for file in test_files if PurePosixPath(file).is_relative_to(folder)]


def group_by_file(selectors: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Groups selectors by test file, in order; the selector of a whole file replaces those of its tests."""
    grouped: dict[str, dict[str, None]] = {}
    for selector in selectors:
        grouped.setdefault(selector.split("::", 1)[0], {})[selector] = None
    return {
        file: (file,) if file in file_selectors else tuple(file_selectors) for file, file_selectors in grouped.items()
    }


def outline_hashes(root: Path, paths: Iterable[str], buffers: Mapping[str, bytes]) -> dict[str, int]:
    """A hash of each module without the bodies of its functions; unsaved texts replace the files. Blocking."""
    return {path: outline_hash(sources.read_text(root, path, buffers) or "", path) for path in paths}
