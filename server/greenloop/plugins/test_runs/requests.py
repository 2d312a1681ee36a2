"""Requests to run tests, jobs that combine them, the coverage that says which tests a file needs, and summaries.

`scheduler.py` decides when a job runs, `job_runner.py` runs it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from greenloop.api.settings import Settings
from greenloop_sandbox import CaseResult

if TYPE_CHECKING:
    from greenloop.api.testing import SuiteReport
    from greenloop.lsp.documents.composite import EditorTarget
    from greenloop.plugins.test_runs.impact import Coverage

# How many times longer than last time tests may take.
SLOWER = 10
# The prefix of the selector of a docstring's examples.
DOCTEST = "doctest:"


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
        """True if any of these has never been traced."""
        return not all(each in self.reached if "::" in each else self.reached.is_complete(each) for each in selectors)

    def time_limit(self, selectors: Iterable[str], settings: Settings, remaining: float) -> float:
        """The time limit of a run in seconds: ten times the last duration, where it is known, else `remaining`."""
        files = {each.split("::", 1)[0] for each in selectors}
        if not files <= self.file_seconds.keys():
            return remaining
        estimate = SLOWER * sum(self.file_seconds[file] for file in files)
        return min(max(estimate, settings.sandbox.seconds), remaining)

    def update(self, report: SuiteReport, *, traced: bool) -> None:
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


@dataclass(frozen=True, kw_only=True)
class TestSummary:
    """The answer to a request: each case's result, files that could not be collected, and cases that did not run.

    `out_of_time` cases did not run because time was up, `interrupted` ones because pytest ended early.
    """

    __test__ = False  # for pytest, which collects classes by name
    results: tuple[CaseResult, ...] = ()
    broken: tuple[str, ...] = ()
    out_of_time: int = 0
    interrupted: int = 0
    seconds: float = 0.0

    @property
    def failing(self) -> tuple[CaseResult, ...]:
        return tuple(result for result in self.results if result.outcome in {"failed", "error"})


@dataclass(eq=False, kw_only=True)
class TestRequest:
    """A request to run tests: `selectors`, or without any those that cover the file `path`, or one `function` of it.

    `examples` are the selectors of the function's own docstring examples, which also run.
    `name` is shown to the user, `target` is the selector in the command. `is_shown`: the client shows its progress.
    `prepared` is the engine's input for a composite file.
    `summary_future` is cancelled with the job, and has the error where no test could be run.
    """

    __test__ = False  # for pytest, which collects classes by name
    root: Path
    settings: Settings
    path: str
    name: str
    target: str = ""
    selectors: tuple[str, ...] = ()
    function: str = ""
    examples: tuple[str, ...] = ()
    prepared: EditorTarget | None = None
    is_shown: bool = False
    summary_future: asyncio.Future[TestSummary] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )


@dataclass(eq=False, kw_only=True)
class TestJob:
    """A test run in a folder, for saved files and for requests.

    Without a request it begins after `delay` seconds. `texts` are those of the open files at its start, `buffers` the
    unsaved ones as bytes. `out_of_time` cases did not run because time was up,
    `interrupted` ones because pytest ended early.
    `is_reported`: all results are shown, but traces may still be recorded. `is_stopped`: nothing more may be shown.
    `previous` is the job that it replaces, until it has begun.
    """

    __test__ = False  # for pytest, which collects classes by name
    root: Path
    settings: Settings
    saved: dict[str, None] = field(default_factory=dict)
    requests: list[TestRequest] = field(default_factory=list)
    delay: float = 0.0
    texts: Mapping[str, str] = field(default_factory=dict)
    buffers: Mapping[str, bytes] = field(default_factory=dict)
    out_of_time: int = 0
    interrupted: int = 0
    is_reported: bool = False
    has_begun: bool = False
    is_stopped: bool = False
    task: asyncio.Task[None] | None = None
    pause: asyncio.Future[None] | None = None
    previous: TestJob | None = None

    def stop(self) -> None:
        """Stops the job, and the job and pause that it waits for."""
        self.is_stopped = True
        if self.has_begun and self.task is not None:
            self.task.cancel()
        if self.previous is not None:
            self.previous.stop()
        if self.pause is not None:
            self.pause.cancel()

    def count(self, report: SuiteReport) -> None:
        """Counts a report's cases that did not run, by reason."""
        if report.ended:
            self.interrupted += len(report.left_out)
        else:
            self.out_of_time += len(report.left_out)

    def concerns(self, path: str, target: str | None) -> bool:
        """True if the job concerns this file, and this target if one is given."""
        if any(each.path == path and target in (None, each.target) for each in self.requests):
            return True
        return target is None and path in self.saved


def summarize(
    request: TestRequest, coverage_map: CoverageMap, reports: Sequence[SuiteReport], job: TestJob
) -> TestSummary:
    """The part of a job's results that answers a request."""
    results = tuple(result for report in reports for result in report.results)
    broken = dict.fromkeys(error.id.split("::", 1)[0] for report in reports for error in report.errors)
    if request.function:
        covering = set(coverage_map.reached.tests_through(request.path, request.function))
        example_prefixes = tuple(f"{each.removeprefix(DOCTEST)}::" for each in request.examples)
        answer = tuple(each for each in results if each.id in covering or each.id.startswith(example_prefixes))
    elif not request.selectors:
        covering = set(coverage_map.reached.tests_through(request.path))
        answer = tuple(result for result in results if result.id in covering) or results
    else:
        answer = tuple(result for result in results if _is_selected(result.id, request.selectors))
        files = {selector.split("::", 1)[0] for selector in request.selectors}
        # Without a conftest none of them could be collected.
        broken = {file: None for file in broken if file in files or PurePosixPath(file).name == "conftest.py"}
    return TestSummary(
        results=answer,
        broken=tuple(broken),
        out_of_time=job.out_of_time,
        interrupted=job.interrupted,
        seconds=sum(report.seconds for report in reports),
    )


def _is_selected(case: str, selectors: Sequence[str]) -> bool:
    return any(case == each or case.startswith((f"{each}::", f"{each}[")) for each in selectors)


def select_tests(job: TestJob, coverage_map: CoverageMap) -> tuple[dict[str, tuple[str, ...]], dict[str, int]]:
    """The selectors of each test file, and the outlines of the saved files. May read the workspace."""
    from greenloop.plugins.test_runs import impact  # noqa: PLC0415 - loads parsers, which a server without tests need not

    selectors: list[str] = []
    for request in (each for each in job.requests if each.prepared is None):
        selectors += request.selectors
        if not request.selectors:
            covering = coverage_map.reached.tests_through(request.path, request.function)
            selectors += covering or impact.affected_tests(job.root, request.path, coverage_map.reached)
    outlines = impact.outline_hashes(job.root, job.saved, job.buffers)
    for path, outline in outlines.items():
        is_unchanged = coverage_map.outlines.get(path) == outline
        selectors += impact.affected_tests(job.root, path, coverage_map.reached, inside_functions=is_unchanged)
    if job.saved:
        selectors += sorted(coverage_map.broken)
    return impact.group_by_file(selectors), outlines
