"""The refinement loop: draft, read, check, execute, describe, plan again, until solved or a limit is reached.

Execution decides: an attempt counts only when `verify` and then `accept` say passed.
A failing test, an unparsable answer and a timeout are data; only `GreenloopError` and cancellation end the loop.
It must not know which model, sandbox or strategy it drives.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any

from greenloop.core.budget import BudgetExceededError, Request, ask_within_budget, count_prompt_tokens
from greenloop.core.compose import compose
from greenloop.core.concurrency import gather_or_cancel
from greenloop.core.election import CHEAP, WITHOUT_MODEL, Election, best_attempt, count_asked, elect_nearest
from greenloop.core.errors import GreenloopError
from greenloop.core.events import Event, Planned, Proposed, Started, Tested, Token
from greenloop.core.records.attempt import Attempt, Draft, FeedbackNote, Finding, Move, Sent
from greenloop.core.records.model import Reply
from greenloop.core.records.outcome import Outcome, StopReason, Verified
from greenloop.core.records.problem import Problem
from greenloop.core.records.usage import Usage
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.run_state import RunState
from greenloop.drafting.candidates.copying import is_copy
from greenloop.engine import attempt_steps, without_model
from greenloop.engine.attempt_steps import Files
from greenloop.engine.ranker import Rank, give_up, is_waiting, keep_order

GRACE = 1.0  # seconds after the end until a proof is cut that should have ended by itself


def _record_nothing(_problem: Problem, _draft: Draft, _request: Request, *, is_second: bool) -> None:
    pass


async def _prepare_nothing(_problem: Problem) -> None:
    pass


@dataclass(frozen=True, kw_only=True)
class Parts:
    """Functions of a run. `verify` tests a candidate; `accept` tests it again in a fresh sandbox, with all proofs.

    `glance` is `verify` with a shorter limit, for hundreds of candidates.
    `again` builds a shorter question after an answer that could not be read, or returns None.
    `prepare` gathers the context of a problem's regions, before the first question about them.
    `sent` returns what is recorded of a request.
    `elect` selects the attempts for `accept` after each round and at the end.
    `stops_copies`: an answer that repeats the user's function ends at once, unless it is to be corrected further down.
    `rank` orders candidates that were not run, where not all of them are to be run.
    """

    plan: Callable[[Problem, Sequence[Attempt]], Sequence[Draft]]
    assemble: Callable[[Problem, Draft, Sequence[Attempt]], Request]
    ask: Callable[[Request, Callable[[str], None]], Awaitable[Reply]]
    verify: Callable[[Files], Awaitable[Verdict]]
    glance: Callable[[Files], Awaitable[Verdict]]
    accept: Callable[[Files], Awaitable[Verdict]]
    describe: Callable[[Problem, Sequence[Attempt]], Awaitable[tuple[FeedbackNote, ...]]]
    model_of: Callable[[Draft], str]
    count: Callable[[str], int]
    again: Callable[[Problem, Request, Reply, Finding], Request | None] = lambda *_question: None
    elect: Callable[[Problem, Sequence[Attempt], bool], Awaitable[Election]] = elect_nearest
    prepare: Callable[[Problem], Awaitable[None]] = _prepare_nothing
    stops_copies: bool = True
    sent: Callable[..., Sent | None] = _record_nothing
    rank: Rank = keep_order


async def refine(state: RunState, started: Started, parts: Parts, emit: Callable[[Event], None]) -> Outcome:
    """Runs the loop until solved, stalled or out of budget; a worse attempt never replaces the best one."""
    emit(started)
    state.attempts = [started.baseline, *state.attempts[1:]]
    for attempt in state.attempts[1:]:  # of an earlier run
        emit(Tested(attempt=attempt))
    reason = await _Loop(state=state, parts=parts, emit=emit).run()
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

    `tested` are attempts of the round in progress that have their verdict, `first` is the number of its first one.
    `waiting` are numbers of ranked attempts that run, in this order, only if none before is accepted.
    """

    state: RunState
    parts: Parts
    emit: Callable[[Event], None]
    exhausted: StopReason | None = None
    first: int = 1
    tested: list[Attempt] = field(default_factory=list)
    waiting: list[int] = field(default_factory=list)
    limit: asyncio.Timeout = field(default_factory=lambda: asyncio.timeout(None))

    async def run(self) -> StopReason:
        """Searches until the time that is kept for the proof; what passes by then is still proved."""
        deadline = self.state.deadline
        try:
            async with deadline.limit(kept=deadline.kept) as self.limit:
                return await self._search()
        except TimeoutError:
            pass
        self.state.attempts[self.first :] = map(give_up, [*self.state.attempts[self.first :], *self.tested])
        self.waiting = []
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
            await self._verify(await self._propose(self._within_budget(drafts)))
            self.state.attempts += self.tested
            self.tested = []
            if await self._accept_round(first):
                return StopReason.SOLVED
            self.first = len(self.state.attempts)
            if self.exhausted:
                return self.exhausted
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
            while not solved and self.waiting:
                await self._run_waiting(self.state.attempts)
                solved = await self._accept_elected(first, final=final)
            self.waiting = []
            self.state.attempts[first:] = map(give_up, self.state.attempts[first:])
            for attempt in self.state.attempts[first:]:
                if attempt.accepted or not solved:
                    self.state.attempts[attempt.number] = await self._describe(attempt)
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
            attempt = attempt_steps.with_verdict(attempt, verdict)
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

    def _within_budget(self, drafts: Sequence[Draft]) -> list[Draft]:
        """Returns the drafts that the limit on attempts allows; moves without a model do not count."""
        room = self.state.ledger.budget.attempts - count_asked(self.state.attempts)
        kept = []
        for draft in drafts:
            room -= draft.move not in WITHOUT_MODEL
            if room >= 0:
                kept.append(draft)
        return kept

    async def _propose(self, drafts: Sequence[Draft]) -> list[Attempt]:
        """Turns the drafts into untested attempts, each with a candidate or a finding."""
        for draft in drafts:  # the prompt describes the parent
            if draft.move not in CHEAP and not (parent := self.state.attempts[draft.parent]).notes and parent.number:
                self.state.attempts[draft.parent] = await self._describe(parent, always=True)
        for draft in drafts:
            if draft.move not in WITHOUT_MODEL:
                await self.parts.prepare(self._question(draft))
        first = len(self.state.attempts)
        numbered = list(enumerate(drafts, first))
        requested = await gather_or_cancel(
            [self._request_candidate(*each) for each in numbered if each[1].move not in WITHOUT_MODEL]
        )
        answered = {attempt.number: attempt for attempt in requested if attempt}
        result: list[Attempt] = []
        for number, draft in numbered:
            before = [*self.state.attempts, *result]
            if draft.move in WITHOUT_MODEL:
                problem = self.state.problem.focused(draft.regions)
                most = self.state.deadline.left_to_search / 2
                make = without_model.best_mutant if draft.move is Move.MUTATE else without_model.best_merge
                result.append(await make(problem, len(before), draft, before, self.parts.glance, most))
            elif number in answered:  # renumbered: a draft that the budget did not allow leaves no gap
                attempt = replace(answered[number], number=len(before))
                result.append(attempt_steps.check_candidate(self._problem_of(attempt), attempt, before, self.emit))
        return result

    async def _request_candidate(self, number: int, draft: Draft) -> Attempt | None:
        """Asks the model and reads its answer; asks once more, briefly, if it is unreadable. None: out of budget."""
        problem = self._question(draft)
        request = replace(self.parts.assemble(problem, draft, self.state.attempts), seed=number)
        tokens = count_prompt_tokens(request, self.parts.count)
        self.emit(Planned(attempt=number, draft=draft, model=self.parts.model_of(draft), prompt_tokens=tokens))
        attempt = None
        try:
            can_copy = draft.move is Move.DRAFT and self.parts.stops_copies
            reply = await self._ask(number, request, lambda text: can_copy and is_copy(problem, text))
            reply = replace(reply, model=reply.model or self.parts.model_of(draft))
            attempt = attempt_steps.read_answer(problem, number, draft, self.state.attempts, reply)
            attempt = replace(attempt, sent=self.parts.sent(problem, draft, request, is_second=False))
            if attempt.finding and (shorter := self.parts.again(problem, request, reply, attempt.finding)):
                reply = await self._ask(number, shorter)
                second_attempt = attempt_steps.read_answer(problem, number, draft, self.state.attempts, reply)
                sent = self.parts.sent(problem, draft, shorter, is_second=True)
                attempt = replace(second_attempt, usage=attempt.usage + second_attempt.usage, sent=sent)
        except BudgetExceededError as error:
            self.exhausted = error.reason
        return attempt

    async def _ask(self, number: int, request: Request, is_copy: Callable[[str], bool] = lambda _text: False) -> Reply:
        """Asks within the budget; stops an answer that `is_copy` as soon as it is."""
        pieces: list[str] = []
        copied: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def on_token(text: str) -> None:
            pieces.append(text)
            self.emit(Token(attempt=number, text=text, count=len(pieces)))
            if "\n" in text and not copied.done() and is_copy("".join(pieces)):
                copied.set_result(None)

        async def ask(granted: Request, receive: Callable[[str], None]) -> Reply:
            began = monotonic()
            answering = asyncio.ensure_future(self.parts.ask(granted, receive))
            either: set[asyncio.Future[Any]] = {answering, copied}
            try:
                await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
                if answering.done() or not copied.done():
                    return await answering
            finally:
                answering.cancel()
                await asyncio.gather(answering, return_exceptions=True)
            prompt, price = count_prompt_tokens(granted, self.parts.count), self.state.ledger.price
            usage = Usage(
                prompt_tokens=prompt,
                completion_tokens=len(pieces),
                cost=price(prompt, len(pieces)) if price else 0.0,
                model_seconds=monotonic() - began,
            )
            return Reply(text="".join(pieces), usage=usage, model="", finish="copy")

        reply = await ask_within_budget(self.state.ledger, ask, request, on_token, self.parts.count)
        self.emit(Proposed(attempt=number, answer=reply.text, usage=reply.usage))
        return reply

    async def _verify(self, proposed: Sequence[Attempt]) -> None:
        """Tests every candidate that passed the gate; ranked ones only up to the first that passes."""
        candidates = [attempt for attempt in proposed if is_waiting(attempt)]
        ranked = await self.parts.rank(self.state.problem, self.state.attempts, candidates)
        if ranked:
            changed = {attempt.number: attempt for attempt in ranked}
            self.tested = [changed.get(attempt.number, attempt) for attempt in proposed]
            self.waiting = [attempt.number for attempt in ranked]
            await self._run_waiting(self.tested)
            return
        for attempt in proposed:
            self.tested.append(await self._test(attempt) if is_waiting(attempt) else attempt)

    async def _run_waiting(self, attempts: list[Attempt]) -> None:
        """Tests waiting attempts, which these contain, until one passes."""
        first = attempts[0].number
        while self.waiting:
            number = self.waiting.pop(0)
            attempt = attempts[number - first] = await self._test(attempts[number - first])
            if attempt.verdict.status is Status.PASSED:
                break

    async def _test(self, attempt: Attempt) -> Attempt:
        assert attempt.candidate is not None
        verify = self.parts.glance if _is_cheap(attempt) else self.parts.verify
        return attempt_steps.with_verdict(attempt, await verify(compose(self.state.problem, attempt.candidate)))

    def _question(self, draft: Draft) -> Problem:
        """Returns the problem with the regions that a draft asks about."""
        problem = self.state.problem
        return problem.focused(draft.regions) if draft.masked else problem.opened(draft.regions)

    def _problem_of(self, attempt: Attempt) -> Problem:
        """Returns the problem with the regions that the attempt changes, or was to change."""
        problem = self.state.problem
        changed = tuple(attempt.candidate.texts) if attempt.candidate else ()
        if attempt.draft is None or {*changed} <= {*problem.focused(attempt.draft.regions).regions}:
            changed = attempt.draft.regions if attempt.draft else ()
        return problem.focused(changed)

    async def _describe(self, attempt: Attempt, *, always: bool = False) -> Attempt:
        if not always and _is_cheap(attempt):
            return attempt
        try:
            earlier = self.state.attempts[: attempt.number]
            notes = await self.parts.describe(self._problem_of(attempt), [*earlier, attempt])
        except BudgetExceededError as error:
            self.exhausted = error.reason
            return attempt
        confidences = [note.fields["confidence"] for note in notes if "confidence" in note.fields]
        return replace(attempt, notes=notes, confidence=float(confidences[-1]) if confidences else attempt.confidence)


def _is_cheap(attempt: Attempt) -> bool:
    return attempt.draft is not None and attempt.draft.move in CHEAP


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
