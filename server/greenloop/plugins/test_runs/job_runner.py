"""Runs the tests of one job in the sandbox, in batches, and stores their results and coverage.

It must not know when a job runs, or who waits for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from greenloop.core.errors import CannotVerifyError
from greenloop.lsp.documents.disk import snapshot
from greenloop.lsp.documents.open_documents import Documents
from greenloop.lsp.engines import Engines
from greenloop.lsp.presenters.progress import ProgressLine
from greenloop.lsp.state.results import TestResults, group_by_test
from greenloop.plugins.test_runs.failing_tests import FailingTests
from greenloop.plugins.test_runs.requests import DOCTEST, CoverageMap, TestJob, TestRequest, select_tests, summarize

if TYPE_CHECKING:
    from greenloop.api.testing import SuiteReport
    from greenloop.lsp.documents.composite import EditorTarget

# Test files that run together; their results are shown before the next ones run.
BATCH = 10
# Maximum seconds of a test run that is repeated to trace it.
TRACED = 5.0


class JobRunner:
    """Runs jobs; results are shown after each batch."""

    def __init__(
        self,
        documents: Documents,
        engines: Engines,
        results: TestResults,
        failing_tests: FailingTests,
        clock: Callable[[], float],
    ) -> None:
        self._documents, self._engines, self._clock = documents, engines, clock
        self._results, self._failing_tests = results, failing_tests

    async def run(self, job: TestJob, coverage_map: CoverageMap, progress_line: ProgressLine) -> list[SuiteReport]:
        """Runs all tests of a job, until it is stopped or its time is up."""
        await self._take_texts(job)
        by_file, outlines = await asyncio.to_thread(select_tests, job, coverage_map)
        for file in [file for file in by_file if file not in job.buffers and not (job.root / file).is_file()]:
            del by_file[file]
            coverage_map.forget(file)
            self._failing_tests.forget(job.root, file)
        # Saved and failing files first.
        files = sorted(
            by_file, key=lambda file: file not in job.saved and not self._failing_tests.has_failing(job.root, file)
        )
        deadline = self._clock() + max(job.settings.suite.seconds, job.settings.sandbox.seconds)
        reports: list[SuiteReport] = []
        for start in range(0, len(files), BATCH):
            batch = files[start : start + BATCH]
            remaining = deadline - self._clock()
            if remaining <= 0:
                job.out_of_time += sum(len(by_file[file]) for file in files[start:])
                break
            if len(files) > 1:
                progress_line.report(f"{Path(batch[0]).name} · {start}/{len(files)}")
            selectors = [selector for file in batch for selector in by_file[file]]
            traced = coverage_map.has_untraced(selectors)
            report = await self._run(job, coverage_map, selectors, traced=traced, remaining=remaining)
            if job.is_stopped:
                break
            self._take(job, report)
            reports.append(report)
        if (examples := self._examples(job)) and not job.is_stopped:
            # They are not tests of a test file, so no coverage is kept for them.
            reports.append(await self._run_in_sandbox(job, examples))
            if not job.is_stopped:
                self._take(job, reports[-1])
        for request in list(job.requests):
            if request.prepared is not None and not job.is_stopped and not request.summary_future.done():
                await self._run_adapted(job, request, request.prepared, coverage_map)
        if not job.is_stopped:
            coverage_map.outlines |= outlines
        return reports

    async def trace(self, job: TestJob, coverage_map: CoverageMap) -> None:
        """Records the current coverage of stale tests, unless that takes long."""
        from greenloop.plugins.test_runs import impact  # noqa: PLC0415 - loads parsers, which a server without tests need not

        by_file = impact.group_by_file(coverage_map.stale)
        if sum(coverage_map.file_seconds.get(file, 0.0) for file in by_file) > TRACED:
            return
        await self._take_texts(job)
        files = list(by_file)
        for start in range(0, len(files), BATCH):
            selectors = [selector for file in files[start : start + BATCH] for selector in by_file[file]]
            await self._run(job, coverage_map, selectors, traced=True, remaining=job.settings.sandbox.seconds)
            for selector in selectors:
                coverage_map.stale.pop(selector, None)

    async def _take_texts(self, job: TestJob) -> None:
        job.texts = self._documents.open_texts(job.root)
        job.buffers = await asyncio.to_thread(snapshot, job.texts, job.root)

    def _take(self, job: TestJob, report: SuiteReport) -> None:
        job.count(report)
        self._results.put(job.root, group_by_test(report.results))
        self._failing_tests.update(job.root, report, job.texts)

    def _examples(self, job: TestJob) -> tuple[str, ...]:
        """The requested docstring examples, and those of saved files that failed in their last run."""
        requested = [each for request in job.requests for each in request.examples]
        failed = [each for path in job.saved for each in self._failing_tests.failing_examples(job.root, path)]
        return tuple(dict.fromkeys([*requested, *(f"{DOCTEST}{each}" for each in failed)]))

    async def _run_adapted(
        self, job: TestJob, request: TestRequest, prepared: EditorTarget, coverage_map: CoverageMap
    ) -> None:
        """Runs a composite file's tests and reports them at once, without coverage: only the sandbox has its files."""
        own_job = TestJob(
            root=job.root,
            settings=request.settings,
            texts={**job.texts, **prepared.texts()},
            buffers={**job.buffers, **prepared.buffers},
        )
        report = await self._run_in_sandbox(own_job, request.selectors)
        if job.is_stopped or request.summary_future.done():
            return
        failures = [error.failure for error in report.errors]
        failures += [result.failure for result in report.results if result.failure is not None]
        if (fault := prepared.fault(failures)) is not None:
            # It says nothing about the tests.
            request.summary_future.set_exception(CannotVerifyError(fault.sentence, remedy=fault.remedy))
            return
        self._take(own_job, report)
        request.summary_future.set_result(summarize(request, coverage_map, [report], own_job))

    async def _run(
        self, job: TestJob, coverage_map: CoverageMap, selectors: Sequence[str], *, traced: bool, remaining: float
    ) -> SuiteReport:
        seconds = coverage_map.time_limit(selectors, job.settings, remaining)
        report = await self._run_in_sandbox(job, selectors, traced=traced, seconds=seconds)
        coverage_map.update(report, traced=traced)
        return report

    async def _run_in_sandbox(
        self, job: TestJob, selectors: Sequence[str], *, traced: bool = False, seconds: float | None = None
    ) -> SuiteReport:
        """Runs tests; `seconds` is the time limit, by default the settings' for one verification."""
        return await (await self._engines.engine()).run_tests(
            job.root,
            selectors,
            buffers=job.buffers,
            settings=job.settings,
            pool=self._engines.pool,
            traced=traced,
            seconds=job.settings.sandbox.seconds if seconds is None else seconds,
        )
