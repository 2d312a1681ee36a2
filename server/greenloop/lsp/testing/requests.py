"""Requests to run tests, jobs that combine them, and their summaries; `scheduler.py` runs them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from greenloop.core.records.verdict import CaseResult
from greenloop.lsp.testing.coverage_map import Memory
from greenloop.project.settings import Settings

if TYPE_CHECKING:
    from greenloop.engine.run_tests import Report
    from greenloop.notebook.adapter import NotebookTarget

# The prefix of the selector of a docstring's examples.
DOCTEST = "doctest:"


@dataclass(frozen=True, kw_only=True)
class Tally:
    """The answer to a request: each case's result, files that could not be collected, and cases that did not run.

    `out_of_time` cases did not run because time was up, `interrupted` ones because pytest ended early.
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
    """A request to run tests: `selectors`, or without any those that cover the file `path`, or one `function` of it.

    `examples` are the selectors of the function's own docstring examples, which also run.
    `name` is shown to the user, `target` is the selector in the command.
    `prepared` is the engine's input for a notebook's cells: a module and a test file.
    `summary_future` is cancelled with the job, and has the error where no test could be run.
    """

    root: Path
    settings: Settings
    path: str
    name: str
    target: str = ""
    selectors: tuple[str, ...] = ()
    function: str = ""
    examples: tuple[str, ...] = ()
    cells: NotebookTarget | None = None
    over: asyncio.Future[Tally] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


@dataclass(eq=False, kw_only=True)
class Check:
    """A test run in a folder, for saved files and for requests.

    Without a request it begins after `delay` seconds. `out_of_time` cases did not run because time was up,
    `interrupted` ones because pytest ended early.
    `is_reported`: all results are shown, but traces may still be recorded. `is_stopped`: nothing more may be shown.
    `previous` is the job that it replaces, until it has begun.
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
        """Stops the job, and the job and pause that it waits for."""
        self.stopped = True
        if self.begun and self.task is not None:
            self.task.cancel()
        if self.before is not None:
            self.before.stop()
        if self.pausing is not None:
            self.pausing.cancel()

    def count(self, report: Report) -> None:
        """Counts a report's cases that did not run, by reason."""
        if report.ended:
            self.lost += len(report.left_out)
        else:
            self.left += len(report.left_out)

    def concerns(self, path: str, target: str | None) -> bool:
        """Whether the job concerns this file, and this target if one is given."""
        if any(each.path == path and target in (None, each.target) for each in self.asked):
            return True
        return target is None and path in self.saved


def tallied(asked: Asked, memory: Memory, reports: Sequence[Report], left: int, lost: int) -> Tally:
    """The part of a job's results that answers a request; `out_of_time` and `interrupted` cases did not run."""
    results = tuple(result for report in reports for result in report.results)
    broken = dict.fromkeys(error.id.split("::", 1)[0] for report in reports for error in report.errors)
    if asked.function:
        covering = set(memory.reached.tests_through(asked.path, asked.function))
        example_prefixes = tuple(f"{each.removeprefix(DOCTEST)}::" for each in asked.examples)
        answer = tuple(
            result
            for result in results
            if result.id in covering or (example_prefixes and result.id.startswith(example_prefixes))
        )
    elif not asked.selectors:
        covering = set(memory.reached.tests_through(asked.path))
        answer = tuple(result for result in results if result.id in covering) or results
    else:
        answer = tuple(result for result in results if _named(result.id, asked.selectors))
        files = {selector.split("::", 1)[0] for selector in asked.selectors}
        # Without a conftest none of them could be collected.
        broken = {file: None for file in broken if file in files or PurePosixPath(file).name == "conftest.py"}
    return Tally(
        results=answer,
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
    """The selectors of each test file, and the outlines of the saved files. May read the workspace."""
    from greenloop.project import sources, test_impact  # noqa: PLC0415 - only test runs need it, not the start

    selectors: list[str] = []
    for request in (each for each in check.asked if each.cells is None):
        selectors += request.selectors
        if not request.selectors:
            covering = memory.reached.tests_through(request.path, request.function)
            selectors += covering or test_impact.affected_tests(check.root, request.path, memory.reached)
    outlines = {
        path: test_impact.outline_hash(sources.read_text(check.root, path, buffers) or "", path) for path in check.saved
    }
    for path, outline in outlines.items():
        is_unchanged = memory.outlines.get(path) == outline
        selectors += test_impact.affected_tests(check.root, path, memory.reached, inside_functions=is_unchanged)
    if check.saved:
        selectors += sorted(memory.broken)
    return test_impact.group_by_file(selectors), outlines
