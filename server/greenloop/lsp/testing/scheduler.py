"""Schedules test runs on request and after saves; at most one job in each folder.

A save starts a job after a short delay and cancels the previous job, whose unreported requests and files move to the
new one. It must not know how tests are run.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from greenloop.core.errors import CannotVerifyError, GreenloopError
from greenloop.lsp.documents.buffers import snapshot
from greenloop.lsp.documents.notebook_requests import texts as grid
from greenloop.lsp.presenters.progress_line import Line
from greenloop.lsp.presenters.test_diagnostics import Checked
from greenloop.lsp.testing.coverage_map import Memory
from greenloop.lsp.testing.requests import DOCTEST, Asked, Check, tallied, wanted_by
from greenloop.lsp.testing.results import grouped
from greenloop.project.settings import Settings

if TYPE_CHECKING:
    from greenloop.engine.run_tests import Report
    from greenloop.lsp.server import Server
    from greenloop.notebook.adapter import NotebookTarget

log = logging.getLogger(__name__)

# Seconds from a save to its job: in a burst of saves ("save all", a formatter), and for a single save.
QUIET = 0.2
SOON = 0.03
# Seconds from a job's end to the tracing of its tests, and the longest test run that is repeated for that.
REST = 1.0
TRACED = 5.0
# Seconds after which a job without a request shows progress.
LATE = 1.0
# Test files that run together; their results are shown before the next ones run.
BATCH = 10
# Maximum folders whose coverage is kept.
FOLDERS = 16


class Checks:
    """All test jobs of this server. `pause` and `clock` are asyncio's and the system's, except in tests."""

    def __init__(
        self,
        server: Server,
        *,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._server, self._pause, self._clock = server, pause, clock
        self._under_way: dict[Path, Check] = {}
        self._memories: dict[Path, Memory] = {}
        self._preparing: dict[Path, asyncio.Task[None]] = {}
        self._saved: dict[Path, float] = {}
        self.shown = Checked(server)
        server.results.reached = self._reached

    def save(self, root: Path, settings: Settings, path: str) -> None:
        """Runs the tests that a saved file affects after a short delay, in place of those in progress."""
        now, last_saved = self._clock(), self._saved.get(root, float("-inf"))
        self._saved[root] = now
        delay = QUIET if now - last_saved < QUIET else SOON
        self._start(Check(root=root, settings=settings, saved={path: None}, moment=delay))

    def ask(self, asked: Asked) -> None:
        """Runs requested tests now, together with those in progress."""
        self._start(Check(root=asked.root, settings=asked.settings, asked=[asked]))

    def concern(self, root: Path, path: str) -> bool:
        """Whether a job in progress concerns a file."""
        job = self._under_way.get(root)
        return job is not None and job.concerns(path, None)

    def leave(self, root: Path, path: str) -> None:
        """Drops a closed file's tests from its job, and ends a job without any tests left."""
        job = self._under_way.get(root)
        if job is None or not job.concerns(path, None):
            return
        job.saved.pop(path, None)
        for request in [request for request in job.asked if request.path == path]:
            job.asked.remove(request)
            request.over.cancel()
        if not job.saved and not job.asked:
            self._end(job)

    def cancel(self, root: Path | None = None, path: str | None = None, target: str | None = None) -> int:
        """Ends the jobs in a folder (None: everywhere) that concern a file and a target of it; returns how many."""
        ended = 0
        for job in list(self._under_way.values()):
            if root in (None, job.root) and (path is None or job.concerns(path, target)):
                ended += not job.told
                self._end(job)
        return ended

    # -- one job ------------------------------------------------------------------------------------------------------

    def _start(self, check: Check) -> None:
        previous = self._under_way.get(check.root)
        if previous is not None:
            previous.stopped = True
            if not previous.told:
                check.saved = previous.saved | check.saved
                check.asked = previous.asked + check.asked
        check.before = previous
        self._under_way[check.root] = check
        check.task = self._server.runs.spawn(self._course(check))

    def _end(self, check: Check) -> None:
        del self._under_way[check.root]
        check.stop()
        for request in check.asked:
            request.over.cancel()

    async def _course(self, check: Check) -> None:
        """Runs a job from its delay to its traces."""
        sandbox_ready = None if check.before else self._prepared(check)
        await self._moment(check)
        if check.stopped:
            return
        check.begun = True
        title = check.asked[-1].name if check.asked else Path([*check.saved][-1]).name
        progress_line = Line(self._server, f"Testing {title}", lambda: self._cancelled(check))
        progress_line.ask_later(0.0 if check.asked else LATE)
        try:
            coverage_map = await self._remembered(check.root)
            # Preparing a sandbox continues if the job is cancelled: the next job needs it too.
            await asyncio.shield(sandbox_ready or self._prepared(check))
            reports = await self._tested(check, coverage_map, progress_line)
            if check.stopped:
                return
            self._tell(check, coverage_map, reports)
            progress_line.end("")
            check.told = True
            await self._traced(check, coverage_map)
        except GreenloopError as error:
            self._refused(check, error)
        except Exception:
            # Request boundary: the server must survive any error in a job.
            log.exception("A check failed")
            self._refused(check, GreenloopError("The tests could not be run; the server's log has the details."))
        finally:
            progress_line.end("cancelled")
            if self._under_way.get(check.root) is check:
                del self._under_way[check.root]
                for request in check.asked:
                    request.over.cancel()

    def _reached(self, root: Path, path: str) -> Collection[str]:
        return self._memories[root].reached.functions(path) if root in self._memories else ()

    async def _remembered(self, root: Path) -> Memory:
        if root not in self._memories:
            from greenloop.project.test_impact import Coverage  # noqa: PLC0415 - only test runs need it, not the start

            while len(self._memories) >= FOLDERS:
                del self._memories[next(iter(self._memories))]
            self._memories[root] = Memory(root=root, reached=Coverage())
        return self._memories[root]

    async def _moment(self, check: Check) -> None:
        """Waits for further saves. The previous job may end meanwhile and keep its sandbox."""
        if not check.asked:
            check.pausing = asyncio.ensure_future(self._pause(check.moment))
            try:
                await asyncio.wait([check.pausing])
            finally:
                check.pausing.cancel()
        previous, check.before = check.before, None
        if previous is not None and previous.task is not None:
            previous.stop()
            await asyncio.wait([previous.task])

    def _prepared(self, check: Check) -> asyncio.Task[None]:
        """The task that prepares a sandbox for this folder, perhaps already done."""
        task = self._preparing.get(check.root)
        if task is None or task.done():
            self._preparing[check.root] = task = self._server.runs.spawn(self._ready(check))
        return task

    async def _ready(self, check: Check) -> None:
        try:
            tester = await self._server.tester()
            await tester.prepare(check.root, check.settings, self._server.pool)
        except GreenloopError as error:
            # The test run will report it.
            log.info("No sandbox was made ready: %s", error)

    async def _tested(self, check: Check, memory: Memory, line: Line) -> list[Report]:
        """Runs all tests, in batches of files; shows the results after each batch."""
        texts = self._server.documents.texts(check.root)
        buffers = await asyncio.to_thread(snapshot, texts, check.root)
        by_file, outlines = await asyncio.to_thread(wanted_by, check, memory, buffers)
        for file in [file for file in by_file if file not in buffers and not (check.root / file).is_file()]:
            del by_file[file]
            memory.forget(file)
            self.shown.forget(check.root, file)
        files = sorted(by_file, key=lambda file: file not in check.saved and not self.shown.failing(check.root, file))
        deadline = self._clock() + max(check.settings.suite.seconds, check.settings.sandbox.seconds)
        reports: list[Report] = []
        for start in range(0, len(files), BATCH):
            batch = files[start : start + BATCH]
            remaining = deadline - self._clock()
            if remaining <= 0:
                check.left += sum(len(by_file[file]) for file in files[start:])
                break
            if len(files) > 1:
                line.report_status(f"{Path(batch[0]).name} · {start}/{len(files)}")
            selectors = [selector for file in batch for selector in by_file[file]]
            traced = memory.new(selectors)
            report = await self._run(check, memory, selectors, buffers, traced=traced, left=remaining)
            if check.stopped:
                break
            check.count(report)
            self._server.results.put(check.root, grouped(report.results))
            self.shown.take(check.root, report, texts)
            reports.append(report)
        if (examples := self._examples(check)) and not check.stopped:
            reports.append(await self._examples_tested(check, examples, buffers, texts))
        for request in list(check.asked):
            if request.cells is not None and not check.stopped and not request.over.done():
                await self._cells_tested(check, request, request.cells, memory, buffers, texts)
        if not check.stopped:
            memory.outlines |= outlines
        return reports

    def _examples(self, check: Check) -> tuple[str, ...]:
        """The requested docstring examples, and those of saved files that failed in their last run."""
        requested = [each for request in check.asked for each in request.examples]
        failed = [f"{DOCTEST}{each}" for path in check.saved for each in self.shown.examples(check.root, path)]
        return tuple(dict.fromkeys([*requested, *failed]))

    async def _examples_tested(
        self, check: Check, examples: Sequence[str], buffers: Mapping[str, bytes], texts: Mapping[str, str]
    ) -> Report:
        """Runs docstring examples. They are not tests of a test file, so no coverage is kept for them."""
        report = await self._verdicts(check.root, examples, buffers, check.settings)
        if not check.stopped:
            check.count(report)
            self._server.results.put(check.root, grouped(report.results))
            self.shown.take(check.root, report, texts)
        return report

    async def _cells_tested(
        self,
        check: Check,
        asked: Asked,
        cells: NotebookTarget,
        memory: Memory,
        buffers: Mapping[str, bytes],
        texts: Mapping[str, str],
    ) -> None:
        """Runs a notebook's tests and reports them at once; without coverage: their files are in the sandbox only."""
        report = await self._verdicts(check.root, asked.selectors, {**buffers, **cells.buffers}, asked.settings)
        if check.stopped or asked.over.done():
            return
        failures = [error.failure for error in report.errors]
        failures += [result.failure for result in report.results if result.failure is not None]
        if (fault := cells.fault(failures)) is not None:
            # An earlier cell fails on its own, which says nothing about the tests.
            asked.over.set_exception(CannotVerifyError(fault.sentence, remedy=fault.remedy))
            return
        self._server.results.put(check.root, grouped(report.results))
        self.shown.take(check.root, report, {**texts, **grid(cells.notebook)})
        own_job = Check(root=check.root, settings=check.settings)
        own_job.count(report)
        asked.over.set_result(tallied(asked, memory, [report], own_job.left, own_job.lost))

    async def _run(
        self,
        check: Check,
        memory: Memory,
        selectors: Sequence[str],
        buffers: Mapping[str, bytes],
        *,
        traced: bool,
        left: float,
    ) -> Report:
        seconds = memory.allowed(selectors, check.settings, left)
        report = await self._verdicts(check.root, selectors, buffers, check.settings, traced=traced, seconds=seconds)
        memory.take(report, traced=traced)
        return report

    async def _verdicts(
        self,
        root: Path,
        selectors: Sequence[str],
        buffers: Mapping[str, bytes],
        settings: Settings,
        *,
        traced: bool = False,
        seconds: float | None = None,
    ) -> Report:
        """Runs tests in the sandbox; `seconds` is the time limit, by default the settings' for one verification."""
        return await (await self._server.tester()).run_tests(
            root,
            selectors,
            buffers=buffers,
            settings=settings,
            pool=self._server.pool,
            traced=traced,
            seconds=settings.sandbox.seconds if seconds is None else seconds,
        )

    async def _traced(self, check: Check, memory: Memory) -> None:
        """After a pause, records the current coverage of stale tests, unless that takes long."""
        from greenloop.project import test_impact  # noqa: PLC0415 - as above

        if not memory.stale:
            return
        await self._pause(REST)
        files = test_impact.group_by_file(memory.stale)
        if sum(memory.seconds.get(file, 0.0) for file in files) > TRACED:
            return
        buffers = await asyncio.to_thread(snapshot, self._server.documents.texts(check.root), check.root)
        names = list(files)
        for start in range(0, len(names), BATCH):
            selectors = [selector for file in names[start : start + BATCH] for selector in files[file]]
            await self._run(check, memory, selectors, buffers, traced=True, left=check.settings.sandbox.seconds)
            for selector in selectors:
                memory.stale.pop(selector, None)

    # -- the end of a job ---------------------------------------------------------------------------------------------

    def _tell(self, check: Check, memory: Memory, reports: Sequence[Report]) -> None:
        for request in check.asked:
            if not request.over.done():
                request.over.set_result(tallied(request, memory, reports, check.left, check.lost))
        if check.saved and (check.left or check.lost):
            limit = f"suite.seconds = {check.settings.suite.seconds:g}"
            reason = limit if check.left else "pytest ended before it was done"
            number = check.left + check.lost
            self._report_status(check, "not-tested", f"{number} tests that this file concerns were not run: {reason}.")

    def _refused(self, check: Check, error: GreenloopError) -> None:
        if check.stopped:
            return
        for request in check.asked:
            if not request.over.done():
                request.over.set_exception(error)
        self._report_status(check, error.kind, error.advice)

    def _report_status(self, check: Check, word: str, sentence: str) -> None:
        """Shows a note about a job for saved files."""
        if check.saved and not check.told:
            self.shown.refuse(check.root, [*check.saved][-1], word, sentence)

    def _cancelled(self, check: Check) -> None:
        if self._under_way.get(check.root) is check:
            self._end(check)
