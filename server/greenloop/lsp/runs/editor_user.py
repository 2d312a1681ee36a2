"""The engine's interface to the user of the editor.

A question is asked in the client's own dialogue where declared, else by window/showMessageRequest; in every editor it
can also be answered by code actions on the target and by `greenloop.answer`. Editing is possible meanwhile.
A user who does not answer a question is not asked again in that run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pygls.exceptions import JsonRpcException

from greenloop.core.records.outcome import Outcome
from greenloop.core.text.redact import clean_for_display
from greenloop.lsp.connection.client import Client
from greenloop.lsp.connection.messages import QUESTION, QUESTION_OVER
from greenloop.lsp.editor import Editor
from greenloop.lsp.presenters import pages
from greenloop.lsp.presenters.notifications import name_places, warning_sentences
from greenloop.lsp.presenters.pages import Pages
from greenloop.lsp.runs.edit_plan import EditPlanner
from greenloop.lsp.runs.runs import Runs
from greenloop.lsp.state.questions import Question, UserReply
from greenloop.lsp.state.run import Run
from greenloop.wording.outcome import outcome_in_short

# Seconds that a run waits for an answer: to a question on the screen, and by code actions, which take longer to find.
SHOWN = 120.0
BY_ACTION = 60.0


class EditorUser:
    """The user who started a run. None means "no answer"."""

    def __init__(self, client: Client, runs: Runs, run: Run) -> None:
        self._client, self._runs, self._run = client, runs, run
        self._is_silent = False
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
        if not self._value and self._client.capabilities.typed_answers:
            self._value = (await self._ask(Question(text=clean_for_display(question)))).value
        value, self._value = self._value, ""
        return value or None

    async def _ask(self, question: Question) -> UserReply:
        if self._is_silent:
            return UserReply()
        run = self._run
        run.question = question
        self._runs.set_status(run, "waiting for your answer")
        try:
            answer = await self._wait_for_answer(question)
        finally:
            run.question, run.progress.status = None, ""
            question.close(UserReply())
            if self._client.capabilities.typed_answers:
                self._client.notify(QUESTION_OVER, self._fields(question))
        self._is_silent = answer is None
        return answer or UserReply()

    def _fields(self, question: Question) -> dict[str, Any]:
        return {"uri": self._run.uri, "target": self._run.target.selector, "question": question.text}

    async def _wait_for_answer(self, question: Question) -> UserReply | None:
        """The answer; None where none came in time."""
        if self._client.capabilities.typed_answers:
            fields = {**self._fields(question), "options": list(question.options), "seconds": SHOWN}
            self._client.notify(QUESTION, fields)
            return await _within(question, SHOWN)
        if not self._client.capabilities.questions:
            return await self._point_to_actions(question)
        request = asyncio.ensure_future(self._client.choose(question.text, question.simple_options))
        request.add_done_callback(lambda done: None if done.cancelled() else done.exception())
        either: set[asyncio.Future[Any]] = {request, question.answered}
        try:
            await asyncio.wait(either, timeout=SHOWN, return_when=asyncio.FIRST_COMPLETED)
            if question.answered.done() or not request.done():
                return question.answered.result() if question.answered.done() else None
            return UserReply(option=request.result())
        except JsonRpcException:
            # The editor declared that it can ask, but refuses.
            return await self._point_to_actions(question)
        finally:
            request.cancel()

    async def _point_to_actions(self, question: Question) -> UserReply | None:
        instruction = f"use the code actions of {self._run.name}"
        self._client.show_message(f"{question.text} To answer, {instruction}.")
        return await _within(question, BY_ACTION)


async def _within(question: Question, seconds: float) -> UserReply | None:
    await asyncio.wait({question.answered}, timeout=seconds)
    return question.answered.result() if question.answered.done() else None


APPLY, KEEP = "Apply", "Keep"


class ApplyConfirmation:
    """Asks the user about results."""

    def __init__(self, editor: Editor, runs: Runs, planner: EditPlanner) -> None:
        self._client, self._documents = editor.client, editor.documents
        self._runs, self._planner, self._pages = runs, planner, Pages(editor)

    async def confirm(self, run: Run, outcome: Outcome) -> bool:
        """True if the user wants the result now. False if the editor cannot ask; True if nothing can be applied.

        The change is opened as a page; where that is not possible, the question contains its first lines. A client that
        declared `review` shows it on its own, after the run.
        """
        if self._client.capabilities.review:
            run.result.awaits_review = bool(self._planner.plan(run).changes)
            return not run.result.awaits_review
        if not self._client.capabilities.questions:
            return False
        self._runs.set_status(run, "waiting for your answer")
        is_shown, path, diff = await self._show(run)
        if not diff:
            return True
        question = " ".join(
            [f"{run.name} is {outcome_in_short(outcome)}.", *warning_sentences(outcome), "Apply the change?"]
        )
        if not is_shown:
            question = "\n\n".join(
                [question, pages.first_lines(diff), *([f"The full change is in {path}"] if path else [])]
            )
        return await self._client.ask(question, (APPLY, KEEP)) == APPLY

    async def _show(self, run: Run) -> tuple[bool, Path | None, str]:
        """Shows the change: whether the editor opened the page, the page's path (None: not written), and the diff.

        The diff is empty where nothing can be applied now.
        """
        changes = self._planner.plan(run).changes
        if not changes:
            return False, None, ""
        before, after = {each.path: each.current for each in changes}, {each.path: each.new for each in changes}
        diff = name_places(self._documents, run, pages.diff(before, after))
        return *await self._pages.open_result(run, diff), diff
