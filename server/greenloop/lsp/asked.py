"""What is to be tested and for whom, and what whoever asked gets. Who runs it stands in `checks.py`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from greenloop.core.nouns import CaseResult
from greenloop.lsp.memory import Memory
from greenloop.settings import Settings

if TYPE_CHECKING:
    from greenloop.checking import Report
    from greenloop.notebook import Prepared

# What the selector of a docstring's examples begins with.
DOCTEST = "doctest:"


@dataclass(frozen=True, kw_only=True)
class Tally:
    """What somebody who asked gets: how each case ended, files that could not be collected, how many were left out.

    `left` for want of time, `lost` because pytest ended before it was done.
    """

    results: tuple[CaseResult, ...] = ()
    broken: tuple[str, ...] = ()
    left: int = 0
    lost: int = 0
    seconds: float = 0.0

    @property
    def failing(self) -> tuple[CaseResult, ...]:
        return tuple(result for result in self.results if result.outcome in {"failed", "error"})


@dataclass(eq=False, kw_only=True)
class Asked:
    """A request to run tests: `selectors`, or without any those that come through the file `path`, or one `function`.

    `examples` are the selectors of the function's own, which run besides.
    `name` is what people call it, `target` what a command named.
    `cells` are those of a notebook, of which the sandbox gets a module and a test file.
    `over` gets the tally; it is cancelled where the check is, and has the error where no test could be run.
    """

    root: Path
    settings: Settings
    path: str
    name: str
    target: str = ""
    selectors: tuple[str, ...] = ()
    function: str = ""
    examples: tuple[str, ...] = ()
    cells: Prepared | None = None
    over: asyncio.Future[Tally] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


@dataclass(eq=False, kw_only=True)
class Check:
    """What is to be tested in a folder, and for whom.

    It begins after a `moment` (seconds) where nobody asked. `left` cases were not run for want of time, `lost`
    because pytest ended before it was done.
    `told`: all results are shown; traces are still recorded. `stopped`: nothing of it shall be shown any more.
    `before` is the one whose place it takes, until it has begun.
    """

    root: Path
    settings: Settings
    saved: dict[str, None] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    moment: float = 0.0
    left: int = 0
    lost: int = 0
    told: bool = False
    begun: bool = False
    stopped: bool = False
    task: asyncio.Task[None] | None = None
    pausing: asyncio.Future[None] | None = None
    before: Check | None = None

    def stop(self) -> None:
        """Ends it, and whatever it still waits for."""
        self.stopped = True
        if self.begun and self.task is not None:
            self.task.cancel()
        if self.before is not None:
            self.before.stop()
        if self.pausing is not None:
            self.pausing.cancel()

    def count(self, report: Report) -> None:
        """What of a report's cases did not run, and why."""
        if report.ended:
            self.lost += len(report.left_out)
        else:
            self.left += len(report.left_out)

    def concerns(self, path: str, target: str | None) -> bool:
        """Whether it is about this file, and about this target where one is named."""
        if any(each.path == path and target in (None, each.target) for each in self.asked):
            return True
        return target is None and path in self.saved


def tallied(asked: Asked, memory: Memory, reports: Sequence[Report], left: int, lost: int) -> Tally:
    """What of a check is the answer to this request; `left` and `lost` cases were not run."""
    results = tuple(result for report in reports for result in report.results)
    broken = dict.fromkeys(error.id.split("::", 1)[0] for report in reports for error in report.errors)
    if asked.function:
        near = set(memory.reached.through(asked.path, asked.function))
        own = tuple(f"{each.removeprefix(DOCTEST)}::" for each in asked.examples)
        mine = tuple(result for result in results if result.id in near or (own and result.id.startswith(own)))
    elif not asked.selectors:
        near = set(memory.reached.through(asked.path))
        mine = tuple(result for result in results if result.id in near) or results
    else:
        mine = tuple(result for result in results if _named(result.id, asked.selectors))
        files = {selector.split("::", 1)[0] for selector in asked.selectors}
        # Without a conftest none of them could be collected.
        broken = {file: None for file in broken if file in files or PurePosixPath(file).name == "conftest.py"}
    return Tally(
        results=mine,
        broken=tuple(broken),
        left=left,
        lost=lost,
        seconds=sum(report.seconds for report in reports),
    )


def _named(case: str, selectors: Sequence[str]) -> bool:
    return any(case == each or case.startswith((f"{each}::", f"{each}[")) for each in selectors)


def wanted_by(
    check: Check, memory: Memory, buffers: Mapping[str, bytes]
) -> tuple[dict[str, tuple[str, ...]], dict[str, int]]:
    """The selectors of each test file, and the outlines of what was saved. Reads the workspace where it must."""
    from greenloop import affected, sources  # noqa: PLC0415 - only checks need it, not the start

    found: list[str] = []
    for asked in (each for each in check.asked if each.cells is None):
        found += asked.selectors
        if not asked.selectors:
            known = memory.reached.through(asked.path, asked.function)
            found += known or affected.concerned(check.root, asked.path, memory.reached)
    outlines = {path: affected.outline(sources.text(check.root, path, buffers) or "", path) for path in check.saved}
    for path, now in outlines.items():
        inner = memory.outlines.get(path) == now
        found += affected.concerned(check.root, path, memory.reached, inner=inner)
    if check.saved:
        found += sorted(memory.broken)
    return affected.by_file(found), outlines
