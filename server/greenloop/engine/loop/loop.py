"""The refinement loop: draft, read, check, execute, describe, plan again, until solved or a limit is reached.

Execution decides: an attempt counts only when `verify` and then `accept` say passed.
A failing test, an unparsable answer and a timeout are data; only `GreenloopError` and cancellation end the loop, and
an unanswered question only where all of its round are.
It must not know which model, sandbox or strategy it drives.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from greenloop.core.compose import compose
from greenloop.core.deadline import gather_or_cancel
from greenloop.core.election import CHEAP, WITHOUT_MODEL, best_attempt, count_asked
from greenloop.core.errors import GreenloopError, ModelError
from greenloop.core.events import Event, Started, Tested
from greenloop.core.records.attempt import Draft
from greenloop.core.records.outcome import Outcome, StopReason, Verified
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.run_state import RunState
from greenloop.engine.loop import candidate_runs
from greenloop.engine.loop.candidate_runs import CandidateRuns, Proposal, give_up
from greenloop.engine.loop.parts import Parts
from greenloop.engine.loop.questions import Questions
from greenloop.engine.loop.without_model import MOST_PASSING, attempt_without_model
from greenloop.verdict.case_runs import Files

GRACE = 1.0  # seconds after the end until an overdue proof is cut


async def refine(state: RunState, started: Started, parts: Parts, emit: Callable[[Event], None]) -> Outcome:
    """Runs the loop until solved, stalled or out of budget; a worse attempt never replaces the best one."""
    emit(started)
    state.attempts = [started.baseline, *state.attempts[1:]]
    for attempt in state.attempts[1:]:  # of an earlier run
        emit(Tested(attempt=attempt))
    return build_outcome(state, await _Loop(state=state, parts=parts, emit=emit).run())


def build_outcome(state: RunState, reason: StopReason) -> Outcome:
    """Builds the outcome of these attempts, without its message and level."""
    best = best_attempt(state.attempts)
    return Outcome(
        solved=reason is StopReason.SOLVED,
        verified=Verified.UNVERIFIED,
        reason=reason,
        message="",
        attempts=tuple(state.attempts),
        best=best.number if best else None,
        usage=replace(state.ledger.used, test_seconds=sum(attempt.usage.test_seconds for attempt in state.attempts)),
    )


@dataclass(kw_only=True)
class _Loop:
    """Rounds of one run. The drafts of a round are requested concurrently, and all are tested.

    `first` is the number of the first attempt of the round in progress.
    """

    state: RunState
    parts: Parts
    emit: Callable[[Event], None]
    first: int = 1
    limit: asyncio.Timeout = field(default_factory=lambda: asyncio.timeout(None))
    questions: Questions = field(init=False)
    runs: CandidateRuns = field(init=False)

    def __post_init__(self) -> None:
        self.questions = Questions(state=self.state, parts=self.parts, emit=self.emit)
        self.runs = CandidateRuns(state=self.state, parts=self.parts)

    async def run(self) -> StopReason:
        """Searches until the time that is kept for the proof; what passes by then is still proved."""
        deadline = self.state.deadline
        try:
            async with deadline.limit(kept=deadline.kept) as self.limit:
                return await self._search()
        except TimeoutError:
            pass
        self.state.attempts[self.first :] = map(give_up, [*self.state.attempts[self.first :], *self.runs.tested])
        self.runs.waiting = []
        if not self._has_passed or not deadline.left:
            return StopReason.SECONDS
        try:
            async with deadline.limit(kept=-GRACE) as self.limit:
                final = not self.state.problem.spec.open
                return StopReason.SOLVED if await self._accept_round(self.first, final=final) else StopReason.SECONDS
        except TimeoutError:
            return StopReason.SECONDS

    async def _search(self) -> StopReason:
        try:
            reason = await self._run_rounds()
        except GreenloopError:  # such as a model that cannot be reached
            is_waiting = self._has_passed and not self.state.problem.spec.open
            if is_waiting and await self._accept_elected(len(self.state.attempts), final=True):
                return StopReason.SOLVED
            raise
        if reason is not StopReason.SOLVED and (self.state.problem.spec.open or self._has_passed):
            reason = StopReason.SOLVED if await self._accept_elected(len(self.state.attempts), final=True) else reason
        return reason

    @property
    def _has_passed(self) -> bool:
        """Is there an attempt that passes and may still be accepted?"""
        return any(attempt.verdict.status is Status.PASSED for attempt in self.state.attempts)

    async def _run_rounds(self) -> StopReason:
        while drafts := self.parts.plan(self.state.problem, self.state.attempts):
            if limit := exceeded_limit(self.state):
                return limit
            first = self.first = len(self.state.attempts)
            await self.runs.run(await self._propose(allowed_drafts(self.state, drafts)))
            self.state.attempts += self.runs.tested
            self.runs.tested = []
            if await self._accept_round(first):
                return StopReason.SOLVED
            self.first = len(self.state.attempts)
            if self.questions.exhausted:
                return self.questions.exhausted
            if any(note.stop for attempt in self.state.attempts[first:] for note in attempt.notes):
                return StopReason.STALLED
        return exceeded_limit(self.state) or StopReason.STALLED

    async def _accept_round(self, first: int, *, final: bool = False) -> bool:
        """Was an attempt accepted? Emits every attempt from `first` on, even if describing one ends the run.

        Failed attempts of a round with a solution are not described.
        """
        announced = first
        try:
            solved = await self._accept_elected(first, final=final)
            while not solved and self.runs.waiting:
                await self.runs.run_waiting(self.state.attempts)
                solved = await self._accept_elected(first, final=final)
            self.runs.waiting = []
            self.state.attempts[first:] = map(give_up, self.state.attempts[first:])
            for attempt in self.state.attempts[first:]:
                if attempt.accepted or not solved:
                    self.state.attempts[attempt.number] = await self.questions.describe(attempt)
                self.emit(Tested(attempt=self.state.attempts[attempt.number]))
                announced += 1
            return solved
        finally:
            for attempt in self.state.attempts[announced:]:
                self.emit(Tested(attempt=attempt))

    async def _accept_elected(self, first: int, *, final: bool = False) -> bool:
        """Passes the elected attempts to `accept` one by one until one is accepted; returns whether one was.

        An attempt before `first` whose verdict changes is emitted again.
        """
        election = await self.parts.elect(self.state.problem, self.state.attempts, final)
        before, self.state.attempts = self.state.attempts, list(election.attempts)
        for number in election.order:
            attempt = self.state.attempts[number]
            assert attempt.candidate is not None
            verdict = await self._prove(compose(self.state.problem, attempt.candidate))
            attempt = candidate_runs.with_verdict(attempt, verdict)
            is_accepted = verdict.status is Status.PASSED
            self.state.attempts[number] = replace(attempt, accepted=is_accepted, refused=not is_accepted)
            if self.state.attempts[number].accepted:
                break
        for old, new in zip(before[:first], self.state.attempts, strict=False):
            if new != old:
                self.emit(Tested(attempt=new))
        return any(attempt.accepted for attempt in self.state.attempts)

    async def _prove(self, files: Files) -> Verdict:
        """Proves a result in the time that is kept for it."""
        deadline, loop = self.state.deadline, asyncio.get_running_loop()
        searching = self.limit.when()
        if searching is not None:
            self.limit.reschedule(loop.time() + deadline.left + GRACE)
        verdict = await self.parts.accept(files)
        if searching is not None:
            self.limit.reschedule(searching)
        return verdict

    async def _propose(self, drafts: Sequence[Draft]) -> list[Proposal]:
        """Turns the drafts into untested attempts, each with candidates or a finding.

        A draft that the model does not answer is no attempt. Raises `ModelError` where none is answered.
        """
        for draft in drafts:  # the prompt describes the parent
            if draft.move not in CHEAP and not (parent := self.state.attempts[draft.parent]).notes and parent.number:
                self.state.attempts[draft.parent] = await self.questions.describe(parent, always=True)
        for draft in drafts:
            if draft.move not in WITHOUT_MODEL:
                await self.questions.prepare(draft)
        first = len(self.state.attempts)
        numbered = list(enumerate(drafts, first))
        requested = await gather_or_cancel(
            [self.questions.request_candidate(*each) for each in numbered if each[1].move not in WITHOUT_MODEL],
            ModelError,
        )
        answered = {each.attempt.number: each for each in requested if isinstance(each, Proposal)}
        errors = [error for error in requested if isinstance(error, ModelError)]
        if errors and not answered:
            raise errors[0]
        result: list[Proposal] = []
        for number, draft in numbered:
            before = [*self.state.attempts, *(each.attempt for each in result)]
            if draft.move in WITHOUT_MODEL:
                attempt = await attempt_without_model(
                    self.state.problem,
                    draft,
                    before,
                    self.parts.glance,
                    self.state.deadline.left_to_search / 2,
                    is_enough=self.parts.has_answer,
                    most_passing=1 if self.parts.has_question() else MOST_PASSING,
                )
                result.append(Proposal(attempt=attempt))
            elif number in answered:  # renumbered: a draft without an answer leaves no gap
                attempt = replace(answered[number].attempt, number=len(before))
                problem = candidate_runs.problem_of(self.state.problem, attempt)
                attempt = candidate_runs.check_candidate(problem, attempt, before, self.emit)
                wider = candidate_runs.check_wider(self.state.problem, attempt, answered[number].wider)
                result.append(Proposal(attempt=attempt, wider=wider))
        return result


def exceeded_limit(state: RunState) -> StopReason | None:
    """Returns the limit that is reached, or None; checked in this one place, before every round."""
    attempts, ledger, budget = state.attempts, state.ledger, state.ledger.budget
    if count_asked(attempts) >= budget.attempts:
        return StopReason.ATTEMPTS
    if ledger.used.tokens >= budget.tokens:
        return StopReason.TOKENS
    if budget.cost and ledger.used.cost is not None and ledger.used.cost >= budget.cost:
        return StopReason.COST
    model_attempts = [attempt for attempt in attempts if attempt.draft and attempt.draft.move not in CHEAP]
    # A model that cannot read one suspect may well have an answer for the next.
    patience = budget.unreadable * len({attempt.draft.regions for attempt in model_attempts if attempt.draft})
    last = model_attempts[-patience:]
    if patience and len(last) == patience and all(attempt.candidate is None and attempt.finding for attempt in last):
        return StopReason.ANSWERS
    return None


def allowed_drafts(state: RunState, drafts: Sequence[Draft]) -> list[Draft]:
    """Returns the drafts that the limit on attempts allows; moves without a model do not count."""
    room = state.ledger.budget.attempts - count_asked(state.attempts)
    kept = []
    for draft in drafts:
        room -= draft.move not in WITHOUT_MODEL
        if room >= 0:
            kept.append(draft)
    return kept
