"""Runs the candidates of a round: all as they came, or in a ranker's order up to the first that passes.

It must not know whether a candidate that passes is accepted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from greenloop.core.compose import compose
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.verdict import Status
from greenloop.core.run_state import RunState
from greenloop.engine.loop import attempt_steps
from greenloop.engine.loop.needless_changes import without_needless
from greenloop.engine.loop.parts import Parts
from greenloop.engine.loop.waiting import is_waiting


@dataclass(kw_only=True)
class CandidateRuns:
    """The runs of a loop, round by round.

    `tested` are attempts of the round in progress that have their verdict; they remain if the time ends it.
    `waiting` are numbers of ranked attempts that run, in this order, only if none before is accepted.
    """

    state: RunState
    parts: Parts
    tested: list[Attempt] = field(default_factory=list)
    waiting: list[int] = field(default_factory=list)

    async def run(self, proposed: Sequence[Attempt]) -> None:
        """Tests every candidate that passed the gate; ranked ones only up to the first that passes."""
        candidates = [attempt for attempt in proposed if is_waiting(attempt)]
        ranked = await self.parts.rank(self.state.problem, self.state.attempts, candidates)
        if ranked:
            changed = {attempt.number: attempt for attempt in ranked}
            self.tested = [changed.get(attempt.number, attempt) for attempt in proposed]
            self.waiting = [attempt.number for attempt in ranked]
            await self.run_waiting(self.tested)
            return
        for attempt in proposed:
            self.tested.append(await self._test(attempt) if is_waiting(attempt) else attempt)

    async def run_waiting(self, attempts: list[Attempt]) -> None:
        """Tests waiting attempts, which these contain, until one passes."""
        first = attempts[0].number
        while self.waiting:
            number = self.waiting.pop(0)
            attempt = attempts[number - first] = await self._test(attempts[number - first])
            if attempt.verdict.status is Status.PASSED:
                break

    async def _test(self, attempt: Attempt) -> Attempt:
        assert attempt.candidate is not None
        verify = self.parts.glance if attempt_steps.is_cheap(attempt) else self.parts.verify
        attempt = attempt_steps.with_verdict(attempt, await verify(compose(self.state.problem, attempt.candidate)))
        if attempt.verdict.status is not Status.PASSED:
            attempt = await self._test_widely(attempt)
        if attempt.verdict.status is not Status.PASSED:
            return attempt
        return await without_needless(self.state.problem, attempt, self.parts.glance, verify)

    async def _test_widely(self, attempt: Attempt) -> Attempt:
        """Returns the attempt with all that its answer changes, where more tests pass with that."""
        wider = attempt_steps.read_widely(self.state, attempt)
        files = compose(self.state.problem, wider) if wider else {}
        if not files or (await self.parts.glance(files)).passed <= attempt.verdict.passed:
            return attempt
        verdict = await self.parts.verify(files)
        is_better = verdict.passed > attempt.verdict.passed
        return attempt_steps.with_verdict(replace(attempt, candidate=wider), verdict) if is_better else attempt
