"""Runs the candidates of a round: all as they came, or in a ranker's order up to the first that passes.

It must not know whether a candidate that passes is accepted.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

from greenloop.core.compose import compose, only_needed, region_text
from greenloop.core.fingerprint import is_same_code
from greenloop.core.python.stubs import is_unwritten
from greenloop.core.records.attempt import Attempt, Candidate, Move
from greenloop.core.records.problem import Problem
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.run_state import RunState
from greenloop.drafting.candidates.changes.missing_imports import add_missing_imports
from greenloop.drafting.candidates.checks.gate import check
from greenloop.engine.loop import attempt_steps
from greenloop.engine.loop.attempt_steps import Files, is_waiting, with_verdict
from greenloop.engine.loop.parts import Parts


@dataclass(kw_only=True)
class CandidateRuns:
    """The runs of a loop, round by round.

    `tested` are attempts of the round in progress that have their verdict; they remain if the time ends it.
    `waiting` are numbers of ranked attempts that run, in this order, only if none before is accepted. `wider` has, by
    the number of its attempt, the candidate with all that an answer changes.
    """

    state: RunState
    parts: Parts
    tested: list[Attempt] = field(default_factory=list)
    waiting: list[int] = field(default_factory=list)
    wider: dict[int, Candidate] = field(default_factory=dict)

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
        """Returns the attempt with all that its answer changes, where that may run and more tests pass with it."""
        problem, wider = self.state.problem, self.wider.pop(attempt.number, None)
        if wider is None or attempt.draft is None:
            return attempt
        wider = add_missing_imports(problem, wider)
        files = compose(problem, wider)
        is_same = is_same_code(problem, wider, attempt.candidate)
        if is_same or check(problem.focused(attempt.draft.regions), wider, files):
            return attempt
        if (await self.parts.glance(files)).passed <= attempt.verdict.passed:
            return attempt
        verdict = await self.parts.verify(files)
        is_better = verdict.passed > attempt.verdict.passed
        return attempt_steps.with_verdict(replace(attempt, candidate=wider), verdict) if is_better else attempt


Run = Callable[[Files], Awaitable[Verdict]]


async def without_needless(problem: Problem, attempt: Attempt, glance: Run, verify: Run) -> Attempt:
    """Returns an attempt that passes without its changes of functions and assignments that the tests pass without.

    The least suspicious go first. What was not written before stays, as its tests may be still to come, and so does
    everything where the user asked for more than the tests, or for less time.
    """
    candidate = attempt.candidate
    if attempt.draft is not None and attempt.draft.move is Move.TURN:  # what a capable model changes too has a reason
        return attempt
    if (
        candidate is None
        or problem.instruction
        or problem.spec.open
        or any("ratio" in each for each in attempt.verdict.data.values())
    ):
        return attempt
    order = {region: place for place, region in enumerate((*problem.regions, *problem.suspects))}
    for region in sorted(candidate.texts, key=lambda each: -order.get(each, len(order))):
        if len(candidate.texts) == 1 or region.created or is_unwritten(region_text(problem, region)):
            continue
        kept = {each: text for each, text in candidate.texts.items() if each != region}
        smaller = only_needed(replace(candidate, texts=kept))
        files = compose(problem, smaller)
        # The short run is often the last, since most of what an answer changes is needed.
        if (await glance(files)).status is not Status.PASSED:
            continue
        verdict = await verify(files)
        if verdict.status is Status.PASSED and {*verdict.still_red} <= {*attempt.verdict.still_red}:
            attempt = with_verdict(replace(attempt, candidate=smaller), verdict)
            candidate = smaller
    return attempt
