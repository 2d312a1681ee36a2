"""Asks models in the rounds of a run: for candidates, and what failures mean.

A limit that a question reaches ends the run after its round. It must not know which attempts are accepted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

from greenloop.core.budget import BudgetExceededError, Request, ask_within_budget, count_prompt_tokens
from greenloop.core.events import Event, Planned, Proposed, Token
from greenloop.core.records.attempt import Attempt, Draft, Move
from greenloop.core.records.model import Reply
from greenloop.core.records.outcome import StopReason
from greenloop.core.records.problem import Problem
from greenloop.core.records.usage import Usage
from greenloop.core.run_state import RunState
from greenloop.drafting.candidates.answers.copying import is_copy
from greenloop.engine.loop import attempt_steps
from greenloop.engine.loop.attempt_steps import Proposal
from greenloop.engine.loop.parts import Parts


@dataclass(kw_only=True)
class Questions:
    """The questions of one run; `exhausted` is the limit that one of them has reached."""

    state: RunState
    parts: Parts
    emit: Callable[[Event], None]
    exhausted: StopReason | None = None

    async def prepare(self, draft: Draft) -> None:
        """Gathers the context of the regions that a draft asks about; a conversation has its report."""
        if draft.move is not Move.TURN:
            await self.parts.prepare(self._question(draft))

    async def request_candidate(self, number: int, draft: Draft) -> Proposal | None:
        """Asks the model and reads its answer; asks once more, briefly, if it is unreadable. None: out of budget."""
        if draft.move is Move.TURN:
            return await self._next_turn(number, draft)
        problem = self._question(draft)
        request = replace(self.parts.assemble(problem, draft, self.state.attempts), seed=number)
        tokens = count_prompt_tokens(request, self.parts.count)
        self.emit(Planned(attempt=number, draft=draft, model=self.parts.model_of(draft), prompt_tokens=tokens))
        proposal = None
        try:
            can_copy = draft.move is Move.DRAFT and self.parts.stops_copies
            reply = await self._ask(number, request, lambda text: can_copy and is_copy(problem, text))
            reply = replace(reply, model=reply.model or self.parts.model_of(draft))
            proposal = attempt_steps.read_answer(problem, number, draft, self.state.attempts, reply)
            proposal = proposal.with_fields(sent=self.parts.sent(problem, draft, request, is_second=False))
            finding, usage = proposal.attempt.finding, proposal.attempt.usage
            if finding and (shorter := self.parts.again(problem, request, reply, finding)):
                reply = await self._ask(number, shorter)
                proposal = attempt_steps.read_answer(problem, number, draft, self.state.attempts, reply)
                sent = self.parts.sent(problem, draft, shorter, is_second=True)
                proposal = proposal.with_fields(usage=usage + proposal.attempt.usage, sent=sent)
        except BudgetExceededError as error:
            self.exhausted = error.reason
        return proposal

    async def _next_turn(self, number: int, draft: Draft) -> Proposal | None:
        assert self.parts.converse is not None
        state = self.state
        try:
            attempt, state.problem = await self.parts.converse(number, draft, state.problem, state.attempts, self.emit)
        except BudgetExceededError as error:
            self.exhausted = error.reason
            return None
        return Proposal(attempt=attempt)

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

    async def describe(self, attempt: Attempt, *, always: bool = False) -> Attempt:
        """Returns the attempt with what feedback says of it; a cheap one as it is, unless `always`."""
        if not always and attempt_steps.is_cheap(attempt):
            return attempt
        problem, earlier = attempt_steps.problem_of(self.state.problem, attempt), self.state.attempts[: attempt.number]
        try:
            notes = await self.parts.describe(problem, [*earlier, attempt])
        except BudgetExceededError as error:
            self.exhausted = error.reason
            return attempt
        confidences = [note.fields["confidence"] for note in notes if "confidence" in note.fields]
        return replace(attempt, notes=notes, confidence=float(confidences[-1]) if confidences else attempt.confidence)

    def _question(self, draft: Draft) -> Problem:
        """Returns the problem with the regions that a draft asks about."""
        problem = self.state.problem
        return problem.focused(draft.regions) if draft.masked else problem.opened(draft.regions)
