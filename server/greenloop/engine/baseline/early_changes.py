"""Tries one-token changes while the baseline still runs the related tests: what fails the target need not run again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain

from greenloop.core.compose import compose
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.run_state import Baseline
from greenloop.core.verification_inputs import Encode, VerificationInputs
from greenloop.drafting.candidates.changes.mutate import Stage, mutants
from greenloop.engine.baseline.background_job import BackgroundJob
from greenloop.localize.related_tests import FIRST
from greenloop.verdict.case_runs import Change, changed_texts, quick_limit
from greenloop_sandbox import Session

EARLY = "trying one-token changes while the related tests run"
SUSPECTS = 10  # functions that are changed, the most suspicious first
# Seconds of a target's first run: one that takes longer does not end before the related tests do. On a busy machine a
# first run, which is traced and imports everything, is several times as long as the next ones.
SLOWEST = FIRST


@dataclass(kw_only=True)
class EarlyChanges(BackgroundJob):
    """Prepared while the target runs for the first time; once it is stopped, `failed` has what fails the target."""

    encode: Encode
    report_status: Callable[[str], None]
    failed: dict[Change, Verdict] = field(default_factory=dict)
    spec: Spec | None = None

    def start(self, baseline: Baseline) -> None:
        """Begins with what is known of a target that fails; slow ones are left alone."""
        if not self.has_begun and 0 < baseline.attempt.verdict.seconds <= SLOWEST:
            self.spec = baseline.problem.spec
            self.begin(partial(self._try_all, baseline))

    def known_failures(self, problem: Problem) -> Mapping[Change, Verdict]:
        """The verdicts that count for this problem: none where it has another spec than what was run."""
        return self.failed if problem.spec == self.spec else {}

    async def _try_all(self, baseline: Baseline, session: Session) -> None:
        self.report_status(EARLY)
        seconds = quick_limit(baseline.attempt.verdict.seconds)
        suspected = (baseline.problem.focused((suspect,)) for suspect in baseline.problem.suspects[:SUSPECTS])
        for problem in (baseline.problem, *suspected):
            inputs = VerificationInputs(
                problem=problem,
                outcomes=baseline.outcomes,
                limits=replace(baseline.limits, seconds=min(seconds, baseline.limits.seconds)),
                suite_seconds=0.0,
                encode=self.encode,
            )
            await self._try(inputs, session, baseline)

    async def _try(self, inputs: VerificationInputs, session: Session, baseline: Baseline) -> None:
        stages = (mutants(inputs.problem, baseline.attempt, stage) for stage in Stage)
        for candidate in chain.from_iterable(stages):
            changed = changed_texts(inputs.problem, compose(inputs.problem, candidate))
            verdict = inputs.judge(await session.run(inputs.test_run(changed, hash_seed=0)))
            if verdict.status is Status.FAILED:
                self.failed[frozenset(changed.items())] = replace(verdict, seconds=0.0)
