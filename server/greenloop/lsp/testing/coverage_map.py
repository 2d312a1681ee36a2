"""The coverage of a folder's tests from their last traced run, and the duration of each test file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from greenloop.project.settings import Settings

if TYPE_CHECKING:
    from greenloop.engine.run_tests import Report
    from greenloop.project.test_impact import Coverage

# How many times longer than last time tests may take.
SLOWER = 10


@dataclass(kw_only=True)
class CoverageMap:
    """The coverage of one folder. `stale` are the tests and test files that ran since they were last traced.

    `outlines` are hashes of saved modules without function bodies, `file_seconds` the duration of each test file.
    `broken` are the test files that could not be collected in their last run: any save may fix them.
    """

    root: Path
    reached: Coverage
    stale: dict[str, None] = field(default_factory=dict)
    outlines: dict[str, int] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)
    file_seconds: dict[str, float] = field(default_factory=dict)

    def has_untraced(self, selectors: Iterable[str]) -> bool:
        """Whether any of these has never been traced."""
        return not all(each in self.reached if "::" in each else self.reached.is_complete(each) for each in selectors)

    def time_limit(self, selectors: Iterable[str], settings: Settings, remaining: float) -> float:
        """The time limit of a run in seconds: ten times the last duration, where it is known, else `remaining`."""
        files = {each.split("::", 1)[0] for each in selectors}
        if not files <= self.file_seconds.keys():
            return remaining
        estimate = SLOWER * sum(self.file_seconds[file] for file in files)
        return min(max(estimate, settings.sandbox.seconds), remaining)

    def update(self, report: Report, *, traced: bool) -> None:
        """Updates coverage and durations from a test run."""
        for case, hits in report.reach.items():
            self.reached.record(case, hits)
            self.stale.pop(case, None)
        if not traced:
            complete_files = set(report.files)
            ran = (result.id for result in report.results)
            self.stale |= dict.fromkeys(case for case in ran if case.split("::", 1)[0] not in complete_files)
            self.stale |= dict.fromkeys(report.files)
        self.broken.difference_update(report.files)
        self.broken |= {error.id.split("::", 1)[0] for error in report.errors}
        for file in report.files:
            self.reached.mark_complete(file, [case for case in report.places if case.split("::", 1)[0] == file])
            seconds = [result.seconds for result in report.results if result.id.split("::", 1)[0] == file]
            self.file_seconds[file] = sum(seconds)

    def forget(self, file: str) -> None:
        """Forgets a test file that no longer exists."""
        self.reached.mark_complete(file, ())
        self.broken.discard(file)
        self.file_seconds.pop(file, None)
