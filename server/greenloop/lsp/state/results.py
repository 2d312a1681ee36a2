"""The last result of each test in the sandbox, written by test runs and refinements, read by lenses.

It must not know how anything is shown or run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from greenloop.core.text.redact import clean_for_display
from greenloop_sandbox import CaseResult

# Outcomes from the worst to the best.
_ORDER = ("error", "failed", "missing", "xpassed", "skipped", "xfailed", "passed")


@dataclass(frozen=True, kw_only=True)
class Result:
    """A test's result: `outcome` as in `CaseResult`, the worst of several cases; `passed` of `total` cases."""

    outcome: str
    passed: int
    total: int
    seconds: float = 0.0
    message: str = ""


def test_of(case: str) -> str:
    """The test of a case, without parameters; for a docstring example, its function."""
    return example_of(case) or case.split("[", 1)[0]


def example_of(case: str) -> str:
    """The function whose docstring contains a case as an example; "" for a test."""
    function, mark, number = case.rpartition("::doctest-")
    return function if mark and number.isdecimal() else ""


def group_by_test(cases: Iterable[CaseResult]) -> dict[tuple[str, str], Result]:
    """The result of each test by (path, qualified name).

    The cases of a parametrised test, or of a docstring, are combined.
    """
    tests: dict[tuple[str, str], list[CaseResult]] = {}
    for case in cases:
        path, *names = test_of(case.id).split("::")
        tests.setdefault((path, ".".join(names)), []).append(case)
    return {test: _combine(test_cases) for test, test_cases in tests.items()}


def _combine(cases: list[CaseResult]) -> Result:
    worst = min(cases, key=lambda case: _ORDER.index(case.outcome) if case.outcome in _ORDER else 0)
    message = clean_for_display(worst.failure.message).strip() if worst.failure else ""
    return Result(
        outcome=worst.outcome,
        passed=sum(case.passed for case in cases),
        total=len(cases),
        seconds=sum(case.seconds for case in cases),
        message=message.split("\n", 1)[0],
    )


class TestResults:
    """The last result of each test, by folder, workspace path and qualified name. `on_changed` is called after a put.

    `reached_functions` returns the names of a file's functions that tests are known to reach, `tests_through` the tests
    that reach one of them; the scheduler, which traces tests, sets both. `clock` returns monotonic seconds.
    """

    __test__ = False  # for pytest, which collects classes by name

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._results: dict[tuple[Path, str, str], tuple[Result, float]] = {}
        self.on_changed: Callable[[], None] = lambda: None
        self.reached_functions: Callable[[Path, str], Collection[str]] = lambda _root, _path: ()
        self.tests_through: Callable[[Path, str, str], Collection[str]] = lambda _root, _path, _qualname: ()

    def is_reached(self, root: Path, path: str, qualname: str) -> bool:
        """True if a test is known to reach a function; before Python 3.11 traces have only its unqualified name."""
        names = self.reached_functions(root, path)
        return qualname in names or qualname.rpartition(".")[2] in names

    def passes(self, root: Path, path: str, qualname: str) -> bool:
        """True if all known results of the tests that reach a function, and of its examples, are passes."""
        reaching = self.tests_through(root, path, qualname) if self.is_reached(root, path, qualname) else ()
        names = (test_of(case).partition("::") for case in reaching)
        tests = {(path, qualname), *((file, name.replace("::", ".")) for file, _, name in names)}
        known = [self._results[root, *test][0] for test in tests if (root, *test) in self._results]
        return bool(known) and all(result.outcome == "passed" for result in known)

    def __bool__(self) -> bool:
        """True if there is any result."""
        return bool(self._results)

    def put(self, root: Path, results: dict[tuple[str, str], Result]) -> None:
        """Stores results by (path, qualified name)."""
        time_now = self._clock()
        self._results |= {(root, path, name): (result, time_now) for (path, name), result in results.items()}
        self.on_changed()

    def get(self, root: Path, path: str, qualname: str, after: float = 0.0) -> Result | None:
        """The result of a test; None without one later than the time `after`."""
        result, stored_at = self._results.get((root, path, qualname), (None, 0.0))
        return result if stored_at > after else None

    def names(self, root: Path, path: str) -> set[str]:
        """The qualified names of a file's tests that have a result."""
        return {name for folder, file, name in self._results if (folder, file) == (root, path)}

    def forget(self, root: Path, path: str) -> None:
        """Removes the results of a file's tests."""
        self._results = {key: stored for key, stored in self._results.items() if key[:2] != (root, path)}
