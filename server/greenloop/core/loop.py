"""The loop: draft, read, check, execute, describe, and let search decide, until solved or a limit holds.

Execution decides: an attempt counts only when `verify` and then `accept` say passed.
A failing test, an unparsable answer and a timeout are data; only `GreenloopError` and cancellation leave.
It must not know which model, sandbox or strategy it drives.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from greenloop.core import attempting
from greenloop.core.attempting import Files
from greenloop.core.compose import compose
from greenloop.core.election import Election, nearest
from greenloop.core.events import Event, Planned, Proposed, Started, Tested, Token
from greenloop.core.ledger import Ledger, Request, Spent, billed, size
from greenloop.core.nouns import (
    Attempt,
    Draft,
    Finding,
    Move,
    Note,
    Outcome,
    Problem,
    Reply,
    Status,
    StopReason,
    Verdict,
    Verified,
)

T = TypeVar("T")
CHEAP = (Move.INFILL, Move.MUTATE)  # too many and too small to be described one by one


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What a run is made of. `verify` tests a candidate; `accept` does it again in a fresh sandbox, with all proofs.

    `glance` is `verify` with less patience, for candidates that come by the hundred.
    `again` is the shorter question after an answer that could not be read, or None.
    `elect` says after each round, and when no candidate comes any more, which attempts `accept` is asked about.
    """

    plan: Callable[[Problem, Sequence[Attempt]], Sequence[Draft]]
    assemble: Callable[[Problem, Draft, Sequence[Attempt]], Request]
    ask: Callable[[Request, Callable[[str], None]], Awaitable[Reply]]
    verify: Callable[[Files], Awaitable[Verdict]]
    glance: Callable[[Files], Awaitable[Verdict]]
    accept: Callable[[Files], Awaitable[Verdict]]
    describe: Callable[[Problem, Sequence[Attempt]], Awaitable[tuple[Note, ...]]]
    model_of: Callable[[Draft], str]
    count: Callable[[str], int]
    again: Callable[[Request, Reply, Finding], Request | None] = lambda _request, _reply, _finding: None
    elect: Callable[[Problem, Sequence[Attempt], bool], Awaitable[Election]] = nearest


async def refine(
    problem: Problem, started: Started, parts: Parts, ledger: Ledger, emit: Callable[[Event], None]
) -> Outcome:
    """Runs until solved, stalled or out of budget; the best attempt is never replaced by a worse one."""
    emit(started)
    run = _Run(problem=problem, parts=parts, ledger=ledger, emit=emit, attempts=[started.baseline])
    reason = StopReason.SECONDS
    try:
        async with asyncio.timeout(ledger.budget.seconds):
            reason = await run.rounds()
    except TimeoutError:
        pass
    top = best(run.attempts)
    return Outcome(
        solved=reason is StopReason.SOLVED,
        verified=Verified.UNVERIFIED,
        reason=reason,
        message="",
        attempts=tuple(run.attempts),
        best=top.number if top else None,
        usage=replace(ledger.used, test_seconds=sum(attempt.usage.test_seconds for attempt in run.attempts)),
    )


@dataclass(kw_only=True)
class _Run:
    """The attempts of one run as they grow. The drafts of a round are asked side by side and all tested."""

    problem: Problem
    parts: Parts
    ledger: Ledger
    emit: Callable[[Event], None]
    attempts: list[Attempt] = field(default_factory=list)
    over: StopReason | None = None

    async def rounds(self) -> StopReason:
        reason = await self._until_accepted()
        if reason is not StopReason.SOLVED and self.problem.spec.open:
            reason = StopReason.SOLVED if await self._accepted(len(self.attempts), over=True) else reason
        return reason

    async def _until_accepted(self) -> StopReason:
        while drafts := self.parts.plan(self.problem, self.attempts):
            if limit := exceeded(self.attempts, self.ledger):
                return limit
            first = len(self.attempts)
            self.attempts += await self._tested(await self._proposed(self._allowed(drafts)))
            if await self._judged(first):
                return StopReason.SOLVED
            if self.over:
                return self.over
            if any(note.stop for attempt in self.attempts[first:] for note in attempt.notes):
                return StopReason.STALLED
        return exceeded(self.attempts, self.ledger) or StopReason.STALLED

    async def _judged(self, first: int) -> bool:
        """Was one accepted? The round from `first` on is told: none of it is lost where an answer or a description ends
        the run; what failed beside a solution is not described.
        """
        announced = first
        try:
            solved = await self._accepted(first)
            for attempt in self.attempts[first:]:
                if attempt.accepted or not solved:
                    self.attempts[attempt.number] = await self._described(attempt)
                self.emit(Tested(attempt=self.attempts[attempt.number]))
                announced += 1
            return solved
        finally:
            for attempt in self.attempts[announced:]:
                self.emit(Tested(attempt=attempt))

    async def _accepted(self, first: int, *, over: bool = False) -> bool:
        """Asks `accept` about those elected, one after the other, until one holds.

        An attempt before `first` that is judged anew is told again.
        """
        election = await self.parts.elect(self.problem, self.attempts, over)
        before = self.attempts
        self.problem, self.attempts = election.problem, list(election.attempts)
        for number in election.order:
            attempt = self.attempts[number]
            assert attempt.candidate is not None
            verdict = await self.parts.accept(compose(self.problem, attempt.candidate))
            attempt = attempting.judged(attempt, verdict)
            self.attempts[number] = replace(attempt, accepted=verdict.status is Status.PASSED)
            if self.attempts[number].accepted:
                break
        for old, new in zip(before[:first], self.attempts, strict=False):
            if new != old:
                self.emit(Tested(attempt=new))
        return any(attempt.accepted for attempt in self.attempts)

    def _allowed(self, drafts: Sequence[Draft]) -> list[Draft]:
        """As many as the limit on attempts lets through; changes that need no model are not counted."""
        room = self.ledger.budget.attempts - asked(self.attempts)
        kept = []
        for draft in drafts:
            room -= draft.move is not Move.MUTATE
            if room >= 0:
                kept.append(draft)
        return kept

    async def _proposed(self, drafts: Sequence[Draft]) -> list[Attempt]:
        """What the drafts came to, untested: candidates, or findings against them."""
        for draft in drafts:  # what the prompt tells of its parent
            if draft.move not in CHEAP and not (parent := self.attempts[draft.parent]).notes and parent.number:
                self.attempts[draft.parent] = await self._described(parent, always=True)
        first = len(self.attempts)
        numbered = list(enumerate(drafts, first))
        made = await together([self._answered(*each) for each in numbered if each[1].move is not Move.MUTATE])
        answered = {attempt.number: attempt for attempt in made if attempt}
        result: list[Attempt] = []
        for number, draft in numbered:
            before = [*self.attempts, *result]
            if draft.move is Move.MUTATE:
                mutated = await attempting.mutated(self.problem, len(before), draft, before, self.parts.glance)
                result.append(mutated)
            elif number in answered:  # one that the budget did not allow leaves no gap
                attempt = replace(answered[number], number=len(before))
                result.append(attempting.checked(self.problem, attempt, before, self.emit))
        return result

    async def _answered(self, number: int, draft: Draft) -> Attempt | None:
        """The model's answer, read; one that cannot be read is asked for once more, shortly. None: out of budget."""
        request = replace(self.parts.assemble(self.problem, draft, self.attempts), seed=number)
        tokens = size(request, self.parts.count)
        self.emit(Planned(attempt=number, draft=draft, model=self.parts.model_of(draft), prompt_tokens=tokens))
        attempt = None
        try:
            reply = await self._asked(number, request)
            attempt = attempting.read(self.problem, number, draft, self.attempts, reply)
            if attempt.finding and (shorter := self.parts.again(request, reply, attempt.finding)):
                reply = await self._asked(number, shorter)
                again = attempting.read(self.problem, number, draft, self.attempts, reply)
                attempt = replace(again, usage=attempt.usage + again.usage)
        except Spent as spent:
            self.over = spent.reason
        return attempt

    async def _asked(self, number: int, request: Request) -> Reply:
        written = 0

        def on_token(text: str) -> None:
            nonlocal written
            written += 1
            self.emit(Token(attempt=number, text=text, count=written))

        reply = await billed(self.ledger, self.parts.ask, request, on_token, self.parts.count)
        self.emit(Proposed(attempt=number, answer=reply.text, usage=reply.usage))
        return reply

    async def _tested(self, proposed: Sequence[Attempt]) -> list[Attempt]:
        """Runs every candidate that the gate let through."""
        result = []
        for attempt in proposed:
            if attempt.candidate and not attempt.finding and attempt.verdict.status is Status.REFUSED:
                verify = self.parts.glance if _cheap(attempt) else self.parts.verify
                verdict = await verify(compose(self.problem, attempt.candidate))
                attempt = attempting.judged(attempt, verdict)  # noqa: PLW2901
            result.append(attempt)
        return result

    async def _described(self, attempt: Attempt, *, always: bool = False) -> Attempt:
        if not always and _cheap(attempt):
            return attempt
        try:
            notes = await self.parts.describe(self.problem, [*self.attempts[: attempt.number], attempt])
        except Spent as spent:
            self.over = spent.reason
            return attempt
        sure = [note.fields["confidence"] for note in notes if "confidence" in note.fields]
        return replace(attempt, notes=notes, confidence=float(sure[-1]) if sure else attempt.confidence)


def _cheap(attempt: Attempt) -> bool:
    return attempt.draft is not None and attempt.draft.move in CHEAP


async def together(work: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """All of it side by side; the first that fails says why, and ends the others."""
    tasks = [asyncio.create_task(each) for each in work]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def best(attempts: Sequence[Attempt]) -> Attempt | None:
    """The attempt with the highest score, fewest newly failing neighbours, earliest; only tested candidates count."""
    tested = [attempt for attempt in attempts if attempt.candidate and attempt.verdict.status is not Status.REFUSED]
    honest = [attempt for attempt in tested if attempt.verdict.status is not Status.TAMPERED]
    return max(
        honest,
        key=lambda attempt: (
            attempt.accepted,
            attempt.verdict.status is Status.PASSED,
            attempt.verdict.score,
            -len(attempt.verdict.collateral),
            -attempt.number,
        ),
        default=None,
    )


def asked(attempts: Sequence[Attempt]) -> int:
    """How many of the attempts a model was asked for."""
    return sum(attempt.draft is not None and attempt.draft.move is not Move.MUTATE for attempt in attempts)


def exceeded(attempts: Sequence[Attempt], ledger: Ledger) -> StopReason | None:
    """The limit that holds, if any; checked in one place, before every round."""
    budget = ledger.budget
    if asked(attempts) >= budget.attempts:
        return StopReason.ATTEMPTS
    if ledger.used.tokens >= budget.tokens:
        return StopReason.TOKENS
    if budget.cost and ledger.used.cost is not None and ledger.used.cost >= budget.cost:
        return StopReason.COST
    whole = [attempt for attempt in attempts if attempt.draft and attempt.draft.move not in CHEAP]
    last = whole[-budget.unreadable :]
    if len(last) == budget.unreadable and all(attempt.candidate is None and attempt.finding for attempt in last):
        return StopReason.ANSWERS
    return None
