"""Asks models in the rounds of a run: for candidates, and what failures mean.

A limit that a question reaches ends the run after its round. It must not know which attempts are accepted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

from greenloop.core.budget import BudgetExceededError, Request, ask_within_budget, count_prompt_tokens
from greenloop.core.compose import region_text
from greenloop.core.events import Event, Planned, Proposed, Token
from greenloop.core.python.ast_source import FUNCTIONS, Fragment, docstring_statement, parse_fragment
from greenloop.core.python.stubs import is_unwritten
from greenloop.core.records.attempt import Attempt, Draft, Move
from greenloop.core.records.model import Reply, Usage
from greenloop.core.records.outcome import StopReason
from greenloop.core.records.problem import Problem
from greenloop.core.run_state import RunState
from greenloop.core.text.diff import with_plain_ends
from greenloop.engine.loop import candidate_runs
from greenloop.engine.loop.candidate_runs import Proposal
from greenloop.engine.loop.parts import Parts

SUSPICIOUS = 0.75  # of the highest suspicion; lines that every case runs stay below that


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
            proposal = candidate_runs.read_answer(problem, number, draft, self.state.attempts, reply)
            proposal = proposal.with_fields(sent=self.parts.sent(problem, draft, request, is_second=False))
            finding, usage = proposal.attempt.finding, proposal.attempt.usage
            if finding and (shorter := self.parts.again(problem, request, reply, finding)):
                reply = await self._ask(number, shorter)
                proposal = candidate_runs.read_answer(problem, number, draft, self.state.attempts, reply)
                sent = self.parts.sent(problem, draft, shorter, is_second=True)
                proposal = proposal.with_fields(usage=usage + proposal.attempt.usage, sent=sent)
        except BudgetExceededError as error:
            self.exhausted = error.reason
        return proposal

    async def _next_turn(self, number: int, draft: Draft) -> Proposal | None:
        assert self.parts.converse is not None
        state = self.state
        try:
            attempt = await self.parts.converse(number, draft, state.problem, state.attempts, self.emit)
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
        if not always and candidate_runs.is_cheap(attempt):
            return attempt
        problem, earlier = candidate_runs.problem_of(self.state.problem, attempt), self.state.attempts[: attempt.number]
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


def is_copy(problem: Problem, text: str) -> bool:
    """Has the answer so far repeated the one function it is about, beyond the function's last suspicious line?

    Spaces, comments and a docstring that is left out make no difference. What is yet to be written has nothing to
    repeat: its header and docstring begin every answer. Where something else stands above it than in the user's file,
    such as another value of a table, that may be the correction.
    """
    if (
        len(problem.regions) != 1
        or problem.regions[0].created
        or is_unwritten(region_text(problem, problem.regions[0]))
    ):
        return False
    _before, fence, code = with_plain_ends(text).partition("```")
    answer = _significant(code.split("\n")[1:-1]) if fence else []
    for rows, needed in _expected(problem):
        if needed and _begins_with(answer, rows[:needed]):
            above = [row for row in answer[: answer.index(rows[0])] if not row.startswith(("import", "from"))]
            user = with_plain_ends(problem.files[problem.regions[0].path]) if above else ""
            return {*above} <= {*_significant(user.split("\n"))}
    return False


def _begins_with(answer: Sequence[str], rows: Sequence[str]) -> bool:
    """Does the answer have these rows, from the line on that is equal to the first of them?"""
    if rows[0] not in answer:
        return False
    start = answer.index(rows[0])
    return list(answer[start : start + len(rows)]) == list(rows)


def _expected(problem: Problem) -> list[tuple[list[str], int]]:
    """The function's rows with and without its docstring, each with how many lead to the last suspicious one."""
    region = problem.regions[0]
    lines = with_plain_ends(region_text(problem, region)).rstrip("\n").split("\n")
    parsed = parse_fragment("\n".join(lines))
    if not isinstance(parsed, Fragment):
        return []
    document = next((docstring_statement(node) for node in parsed.body if isinstance(node, FUNCTIONS)), None)
    scores = problem.suspicion.get(region.path, {})
    by_line = [scores.get(region.start + index, 0.0) for index in range(len(lines))]
    least = SUSPICIOUS * max(by_line, default=0.0)
    last = max((index for index, score in enumerate(by_line) if score >= least), default=0)
    result = [(_significant(lines), len(_significant(lines[: last + 1])))]
    if document is not None:
        start, end = document.lineno - parsed.shift - 1, (document.end_lineno or document.lineno) - parsed.shift
        bare = [*lines[:start], *lines[end:]]
        bare_last = lines[: last + 1] if last < start else [*lines[:start], *lines[end : last + 1]]
        result.append((_significant(bare), len(_significant(bare_last))))
    return result


def _significant(lines: Sequence[str]) -> list[str]:
    """The lines without spaces; empty ones and comments are left out."""
    squeezed = ("".join(line.split()) for line in lines)
    return [line for line in squeezed if line and not line.startswith("#")]
