"""What is remembered of a folder's tests: what each came through when it was traced last, and how long files took."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from greenloop.settings import Settings

if TYPE_CHECKING:
    from greenloop.affected import Reached
    from greenloop.checking import Report

# How much longer than last time tests may take.
SLOWER = 10


@dataclass(kw_only=True)
class Memory:
    """One folder's. `stale` are the tests, and the test files, that ran since they were traced last.

    `outlines` are the saved modules without the inside of their functions, `seconds` what each test file took.
    `broken` are the test files that could not be collected when they ran last: nobody knows what would mend them.
    """

    root: Path
    reached: Reached
    stale: dict[str, None] = field(default_factory=dict)
    outlines: dict[str, int] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)
    seconds: dict[str, float] = field(default_factory=dict)

    def new(self, selectors: Iterable[str]) -> bool:
        """Whether any of these has never been traced."""
        return not all(each in self.reached if "::" in each else self.reached.knows(each) for each in selectors)

    def allowed(self, selectors: Iterable[str], settings: Settings, left: float) -> float:
        """Seconds for a run: tests that are known get ten times what they took, others all that is left."""
        files = {each.split("::", 1)[0] for each in selectors}
        if not files <= self.seconds.keys():
            return left
        likely = SLOWER * sum(self.seconds[file] for file in files)
        return min(max(likely, settings.sandbox.seconds), left)

    def take(self, report: Report, *, traced: bool) -> None:
        """Learns from a run of tests."""
        for case, hits in report.reach.items():
            self.reached.put(case, hits)
            self.stale.pop(case, None)
        if not traced:
            whole = set(report.files)
            ran = (result.id for result in report.results)
            self.stale |= dict.fromkeys(case for case in ran if case.split("::", 1)[0] not in whole)
            self.stale |= dict.fromkeys(report.files)
        self.broken.difference_update(report.files)
        self.broken |= {error.id.split("::", 1)[0] for error in report.errors}
        for file in report.files:
            self.reached.keep(file, [case for case in report.places if case.split("::", 1)[0] == file])
            mine = [result.seconds for result in report.results if result.id.split("::", 1)[0] == file]
            self.seconds[file] = sum(mine)

    def forget(self, file: str) -> None:
        """A test file is there no more."""
        self.reached.keep(file, ())
        self.broken.discard(file)
        self.seconds.pop(file, None)
