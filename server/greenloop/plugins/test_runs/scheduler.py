"""Schedules test runs on request and after saves; at most one job in each folder.

A save starts a job after a short delay and cancels the previous job, whose unreported requests and files move to the
new one. It must not know how tests are run.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from greenloop.api.settings import Settings
from greenloop.core.errors import GreenloopError
from greenloop.lsp.editor import Editor
from greenloop.lsp.engines import Engines
from greenloop.lsp.presenters.progress import ProgressLine
from greenloop.lsp.state.results import TestResults
from greenloop.plugins.test_runs.failing_tests import FailingTests
from greenloop.plugins.test_runs.job_runner import JobRunner
from greenloop.plugins.test_runs.requests import CoverageMap, TestJob, TestRequest, summarize

if TYPE_CHECKING:
    from greenloop.api.testing import SuiteReport

log = logging.getLogger(__name__)

# Seconds from a save to its job: in a burst of saves ("save all", a formatter), and for a single save.
QUIET = 0.2
SOON = 0.03
# Seconds from a job's end to the tracing of its tests.
REST = 1.0
# Seconds after which a job without a request shows progress.
LATE = 1.0
# Maximum folders whose coverage is kept.
FOLDERS = 16


class TestScheduler:
    """All test jobs of this server. `pause` and `clock` are asyncio's and the system's, except in tests."""

    __test__ = False  # for pytest, which collects classes by name

    def __init__(
        self,
        editor: Editor,
        engines: Engines,
        results: TestResults,
        failing_tests: FailingTests,
        *,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._editor, self._tasks, self._engines = editor, editor.tasks, engines
        self._failing_tests = failing_tests
        self._pause, self._clock = pause, clock
        self._runner = JobRunner(editor.documents, engines, results, failing_tests, clock)
        self._jobs: dict[Path, TestJob] = {}
        self._coverage_maps: dict[Path, CoverageMap] = {}
        self._preparing: dict[Path, asyncio.Task[None]] = {}
        self._saved_at: dict[Path, float] = {}
        results.reached_functions, results.tests_through = self._reached_functions, self._tests_through

    def run_affected(self, root: Path, settings: Settings, path: str) -> None:
        """Runs the tests that a saved file affects after a short delay, in place of those in progress."""
        now, last_saved = self._clock(), self._saved_at.get(root, float("-inf"))
        self._saved_at[root] = now
        delay = QUIET if now - last_saved < QUIET else SOON
        self._start(TestJob(root=root, settings=settings, saved={path: None}, delay=delay))

    def request(self, request: TestRequest) -> None:
        """Runs requested tests now, together with those in progress."""
        self._start(TestJob(root=request.root, settings=request.settings, requests=[request]))

    def drop(self, root: Path, path: str) -> None:
        """Drops a closed file's tests from its job, and ends a job without any tests left."""
        if (job := self._jobs.get(root)) is not None and job.concerns(path, None):
            job.saved.pop(path, None)
            self.withdraw(root, [request for request in job.requests if request.path == path])

    def withdraw(self, root: Path, requests: Collection[TestRequest]) -> None:
        """Drops these requests from a folder's job, and ends a job without any tests left."""
        for request in requests:
            request.summary_future.cancel()
        if (job := self._jobs.get(root)) is not None:
            job.requests = [request for request in job.requests if request not in requests]
            if not job.saved and not job.requests:
                self._end(job)

    def cancel(self, root: Path | None = None, path: str | None = None, target: str | None = None) -> int:
        """Ends the jobs in a folder (None: everywhere) that concern a file and a target of it; returns how many."""
        ended = 0
        for job in list(self._jobs.values()):
            if root in (None, job.root) and (path is None or job.concerns(path, target)):
                ended += not job.is_reported
                self._end(job)
        return ended

    # -- one job ------------------------------------------------------------------------------------------------------

    def _start(self, job: TestJob) -> None:
        previous = self._jobs.get(job.root)
        if previous is not None:
            previous.is_stopped = True
            if not previous.is_reported:
                job.saved = previous.saved | job.saved
                job.requests = previous.requests + job.requests
        job.previous = previous
        self._jobs[job.root] = job
        job.task = self._tasks.spawn(self._run_job(job))

    def _end(self, job: TestJob) -> None:
        del self._jobs[job.root]
        job.stop()
        for request in job.requests:
            request.summary_future.cancel()

    async def _run_job(self, job: TestJob) -> None:
        """Runs a job from its delay to its traces."""
        sandbox_ready = None if job.previous else self._sandbox_task(job)
        await self._wait_delay(job)
        if job.is_stopped:
            return
        job.has_begun = True
        title = job.requests[-1].name if job.requests else Path([*job.saved][-1]).name
        progress_line = ProgressLine(self._editor, f"Testing {title}", lambda: self._cancel_job(job))
        if not job.requests or not all(request.is_shown for request in job.requests):
            progress_line.open_later(0.0 if job.requests else LATE)
        try:
            coverage_map = await self._coverage_map(job.root)
            # Preparing a sandbox continues if the job is cancelled: the next job needs it too.
            await asyncio.shield(sandbox_ready or self._sandbox_task(job))
            reports = await self._runner.run(job, coverage_map, progress_line)
            if job.is_stopped:
                return
            self._report(job, coverage_map, reports)
            progress_line.end("")
            job.is_reported = True
            # The current coverage of stale tests is recorded after a pause, unless that takes long.
            if coverage_map.stale:
                await self._pause(REST)
                await self._runner.trace(job, coverage_map)
        except GreenloopError as error:
            self._refuse(job, error)
        except Exception:
            # Request boundary: the server must survive any error in a job.
            log.exception("A test job failed")
            self._refuse(job, GreenloopError("The tests could not be run. See the server's log."))
        finally:
            progress_line.end("cancelled")
            if self._jobs.get(job.root) is job:
                del self._jobs[job.root]
                for request in job.requests:
                    request.summary_future.cancel()

    def _reached_functions(self, root: Path, path: str) -> Collection[str]:
        return self._coverage_maps[root].reached.functions(path) if root in self._coverage_maps else ()

    def _tests_through(self, root: Path, path: str, qualname: str) -> Collection[str]:
        return self._coverage_maps[root].reached.tests_through(path, qualname) if root in self._coverage_maps else ()

    async def _coverage_map(self, root: Path) -> CoverageMap:
        from greenloop.plugins.test_runs import impact  # noqa: PLC0415 - loads parsers, which a server without tests need not

        if root not in self._coverage_maps:
            while len(self._coverage_maps) >= FOLDERS:
                del self._coverage_maps[next(iter(self._coverage_maps))]
            self._coverage_maps[root] = CoverageMap(root=root, reached=impact.Coverage())
        return self._coverage_maps[root]

    async def _wait_delay(self, job: TestJob) -> None:
        """Waits for further saves. The previous job may end meanwhile and keep its sandbox."""
        if not job.requests:
            job.pause = asyncio.ensure_future(self._pause(job.delay))
            try:
                await asyncio.wait([job.pause])
            finally:
                job.pause.cancel()
        previous, job.previous = job.previous, None
        if previous is not None and previous.task is not None:
            previous.stop()
            await asyncio.wait([previous.task])

    def _sandbox_task(self, job: TestJob) -> asyncio.Task[None]:
        """The task that prepares a sandbox for this folder, perhaps already done."""
        task = self._preparing.get(job.root)
        if task is None or task.done():
            self._preparing[job.root] = task = self._tasks.spawn(self._prepare(job))
        return task

    async def _prepare(self, job: TestJob) -> None:
        try:
            engine = await self._engines.engine()
            await engine.prepare(job.root, job.settings, self._engines.pool)
        except GreenloopError as error:
            # The test run will report it.
            log.info("No sandbox was made ready: %s", error)

    # -- the end of a job ---------------------------------------------------------------------------------------------

    def _report(self, job: TestJob, coverage_map: CoverageMap, reports: Sequence[SuiteReport]) -> None:
        for request in job.requests:
            if not request.summary_future.done():
                request.summary_future.set_result(summarize(request, coverage_map, reports, job))
        if job.saved and (job.out_of_time or job.interrupted):
            limit = f"the time limit was reached (suite.seconds = {job.settings.suite.seconds:g})"
            reason = limit if job.out_of_time else "pytest ended early"
            number = job.out_of_time + job.interrupted
            self._show_note(job, "not-tested", f"{number} tests affected by this file were not run: {reason}.")

    def _refuse(self, job: TestJob, error: GreenloopError) -> None:
        if job.is_stopped:
            return
        for request in job.requests:
            if not request.summary_future.done():
                request.summary_future.set_exception(error)
        self._show_note(job, error.kind, error.advice)

    def _show_note(self, job: TestJob, code: str, message: str) -> None:
        """Shows a note about a job for saved files."""
        if job.saved and not job.is_reported:
            self._failing_tests.show_refusal(job.root, [*job.saved][-1], code, message)

    def _cancel_job(self, job: TestJob) -> None:
        if self._jobs.get(job.root) is job:
            self._end(job)
