"""Tries one-token changes while the baseline still runs the related tests: what fails the target need not run again.

It has a sandbox of its own, so that nothing of the baseline waits for it; closing that may keep it for the next run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain

from greenloop.core.compose import compose
from greenloop.core.errors import CannotVerifyError
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.run_state import Baseline
from greenloop.core.verification_inputs import Encode, VerificationInputs
from greenloop.drafting.candidates.changes.mutate import Stage, mutants
from greenloop.localize.related_tests import FIRST
from greenloop.verdict.case_runs import Change, changed_texts, quick_limit
from greenloop_sandbox import Session

EARLY = "trying one-token changes while the related tests run"
SUSPECTS = 10  # functions that are changed, the most suspicious first
# Seconds of a target's first run: one that takes longer does not end before the related tests do. On a busy machine a
# first run, which is traced and imports everything, is several times as long as the next ones.
SLOWEST = FIRST


@dataclass(kw_only=True)
class EarlyChanges:
    """One run on the side. `prepare` and `start` return at once; after `stop`, `failed` has what fails the target."""

    open_session: Callable[[], Awaitable[Session]]
    encode: Encode
    report_status: Callable[[str], None]
    failed: dict[Change, Verdict] = field(default_factory=dict)
    spec: Spec | None = None
    _opening: asyncio.Task[Session] | None = None
    _trying: asyncio.Task[None] | None = None

    def prepare(self) -> None:
        """Opens the sandbox, while the target runs for the first time."""
        self._opening = asyncio.create_task(self._open())

    def start(self, baseline: Baseline) -> None:
        """Begins with what is known of a target that fails; slow ones are left alone."""
        if self._opening is not None and self._trying is None and 0 < baseline.attempt.verdict.seconds <= SLOWEST:
            self.spec = baseline.problem.spec
            self._trying = asyncio.create_task(self._try_all(baseline, self._opening))

    async def stop(self) -> None:
        """Ends it, and leaves nothing behind. May be called without `prepare` or `start`."""
        tasks = [task for task in (self._trying, self._opening) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        opening, self._opening, self._trying = self._opening, None, None
        if opening is not None and not opening.cancelled() and opening.exception() is None:
            await opening.result().close()

    def known_failures(self, problem: Problem) -> Mapping[Change, Verdict]:
        """The verdicts that count for this problem: none where it has another spec than what was run."""
        return self.failed if problem.spec == self.spec else {}

    async def _open(self) -> Session:
        session = await self.open_session()
        try:
            await session.warm()
        except BaseException:
            await asyncio.shield(session.close())
            raise
        return session

    async def _try_all(self, baseline: Baseline, opening: asyncio.Task[Session]) -> None:
        try:
            session = await opening
            self.report_status(EARLY)
            seconds = quick_limit(baseline.attempt.verdict.seconds)
            for problem in _by_suspect(baseline.problem):
                inputs = VerificationInputs(
                    problem=problem,
                    outcomes=baseline.outcomes,
                    limits=replace(baseline.limits, seconds=min(seconds, baseline.limits.seconds)),
                    suite_seconds=0.0,
                    encode=self.encode,
                )
                await self._try(inputs, session, baseline)
        except CannotVerifyError:
            pass  # the run itself meets the same fault, and reports it

    async def _try(self, inputs: VerificationInputs, session: Session, baseline: Baseline) -> None:
        stages = (mutants(inputs.problem, baseline.attempt, stage) for stage in Stage)
        for candidate in chain.from_iterable(stages):
            changed = changed_texts(inputs.problem, compose(inputs.problem, candidate))
            verdict = inputs.judge(await session.run(inputs.test_run(changed, hash_seed=0)))
            if verdict.status is Status.FAILED:
                self.failed[frozenset(changed.items())] = replace(verdict, seconds=0.0)


def _by_suspect(problem: Problem) -> Iterator[Problem]:
    yield problem
    for suspect in problem.suspects[:SUSPECTS]:
        yield problem.focused((suspect,))
