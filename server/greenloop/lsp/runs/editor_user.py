"""The engine's interface to the user of the editor.

A question is asked in the client's own dialogue where declared, else by window/showMessageRequest; in every editor it
can also be answered by code actions on the target and by `greenloop.answer`. Editing is possible meanwhile.
A user who does not answer a question is not asked again in that run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pygls.exceptions import JsonRpcException

from greenloop.core.text.redact import clean_for_display
from greenloop.lsp.connection import client_requests
from greenloop.lsp.runs.questions import Answer, Question

if TYPE_CHECKING:
    from greenloop.lsp.runs.runs import Run
    from greenloop.lsp.server import Server

# Seconds that a run waits for an answer: to a question on the screen, and by code actions, which take longer to find.
SHOWN = 120.0
LOOKED_FOR = 60.0


class EditorUser:
    """The user who started a run. None means "no answer"."""

    def __init__(self, server: Server, run: Run) -> None:
        self._server, self._run = server, run
        self._silent = False
        self._value = ""

    async def confirm(self, question: str) -> bool | None:
        answer = await self.choose(question, ("Yes", "No"))
        return None if answer is None else answer == "Yes"

    async def choose(self, question: str, options: Sequence[str]) -> str | None:
        answer = await self._ask(Question(text=clean_for_display(question), options=tuple(options)))
        self._value = answer.value
        return answer.option

    async def correct(self, question: str, text: str) -> str | None:  # noqa: ARG002
        """The value that came with the answer, else one that a client with its own dialogue sends now."""
        if not self._value and self._server.abilities.typed_answers:
            self._value = (await self._ask(Question(text=clean_for_display(question)))).value
        value, self._value = self._value, ""
        return value or None

    async def _ask(self, question: Question) -> Answer:
        if self._silent:
            return Answer()
        run = self._run
        run.question, run.now = question, "waiting for your answer"
        self._server.refresh(run)
        try:
            answer = await self._answered(question)
        finally:
            run.question, run.now = None, ""
            question.end(Answer())
            if self._server.abilities.typed_answers:
                client_requests.question_over(self._server, run, question)
        self._silent = answer is None
        return answer or Answer()

    async def _answered(self, question: Question) -> Answer | None:
        """The answer; None where none came in time."""
        if self._server.abilities.typed_answers:
            client_requests.question(self._server, self._run, question, SHOWN)
            return await _within(question, SHOWN)
        if not self._server.abilities.questions:
            return await self._offered(question)
        request = asyncio.ensure_future(client_requests.choice(self._server, question.text, question.simple))
        request.add_done_callback(lambda done: None if done.cancelled() else done.exception())
        either: set[asyncio.Future[Any]] = {request, question.answered}
        try:
            await asyncio.wait(either, timeout=SHOWN, return_when=asyncio.FIRST_COMPLETED)
            if question.answered.done() or not request.done():
                return question.answered.result() if question.answered.done() else None
            return Answer(option=request.result())
        except JsonRpcException:
            # The editor declared that it can ask, but refuses.
            return await self._offered(question)
        finally:
            request.cancel()

    async def _offered(self, question: Question) -> Answer | None:
        instruction = f"choose an answer among the code actions of {self._run.name}"
        client_requests.tell(self._server, f"{question.text} To answer, {instruction}.")
        return await _within(question, LOOKED_FOR)


async def _within(question: Question, seconds: float) -> Answer | None:
    await asyncio.wait({question.answered}, timeout=seconds)
    return question.answered.result() if question.answered.done() else None
