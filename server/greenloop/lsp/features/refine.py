"""The commands and the request for refinements: start, cancel, apply, discard, answer a question."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from lsprotocol.types import Location
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from greenloop import api
from greenloop.core.python.literals import parse_literal_input
from greenloop.core.records.outcome import StopReason, Verified
from greenloop.lsp.connection.messages import REFINE, AnswerParams, answer_params, command_argument, refine_params
from greenloop.lsp.parts import Parts
from greenloop.lsp.presenters.notifications import applied_elsewhere
from greenloop.lsp.runs.requests import command_scope, newest_offered, run_filter
from greenloop.lsp.state.questions import Question, UserReply
from greenloop.lsp.state.run import Run
from greenloop.wording.outcome import describe_gain

# Seconds that a cancelling client waits for the clean-up, which continues afterwards.
GRACE = 1.0


def register(server: LanguageServer, parts: Parts) -> None:
    runs, starter = parts.runs, parts.starter
    client, documents, tasks = parts.client, parts.documents, parts.tasks

    @server.feature(REFINE)
    async def refine_and_wait(params: Any) -> dict[str, Any]:
        run, is_new = starter.start(refine_params(params))
        try:
            await run.is_over.wait()
        except asyncio.CancelledError:
            # A client that only joined a run does not end it.
            if is_new and run.cancel():
                await asyncio.wait([asyncio.ensure_future(run.is_over.wait())], timeout=GRACE)
            raise
        return reply(run)

    @server.command("greenloop.refine")
    def refine(*arguments: Any) -> None:
        params = refine_params(command_argument(arguments))
        try:
            starter.start(params)
        except JsonRpcInvalidParams:
            # A client that declared `refusals` was notified already, and would show this error as well.
            if not client.capabilities.refusals:
                raise

    @server.command("greenloop.cancel")
    def cancel(*arguments: Any) -> int:
        is_meant = run_filter(documents, runs, arguments)
        scope = command_scope(documents, arguments)
        others = parts.long_tasks.cancel() if command_argument(arguments) is None else 0
        return runs.cancel(is_meant) + parts.events.cancel(*scope) + others

    @server.command("greenloop.apply")
    def apply(*arguments: Any) -> None:
        run = newest_offered(documents, runs, arguments)
        if run is not None:
            tasks.spawn(parts.driver.apply(run))
        else:
            client.show_message("There is no unapplied result here.")

    @server.command("greenloop.undo")
    def undo(*arguments: Any) -> None:
        is_meant = run_filter(documents, runs, arguments)
        if run := next((run for run in runs if is_meant(run) and run.result.applied and not run.running), None):
            tasks.spawn(parts.driver.undo(run))
        else:
            client.show_message("There is no applied result here.")

    @server.command("greenloop.open")
    def open_result(*arguments: Any) -> None:
        is_meant = run_filter(documents, runs, arguments)
        uri = (command_argument(arguments) or {}).get("uri", "")
        changed = (applied_elsewhere(documents, run, uri) for run in runs if is_meant(run))
        location = next(filter(None, changed), None)
        if location is None:
            client.show_message("There is no applied result here.")
        else:
            tasks.spawn(show(location))

    async def show(location: Location) -> None:
        line = location.range.start.line + 1
        if not await client.show_document(location.uri, line):
            client.show_message(f"The result is in {location.uri}, line {line}.")

    @server.command("greenloop.discard")
    def discard(*arguments: Any) -> None:
        is_meant = run_filter(documents, runs, arguments)
        argument = command_argument(arguments) or {}
        parts.refusals.clear(argument.get("uri"))
        if "target" not in argument:
            located = documents.file_of(argument["uri"]) if argument else None

            def is_discarded(path: Path) -> bool:
                return not argument or (located is not None and path == located[0])

            for callback in parts.events.on_discard:
                callback(is_discarded)
        for run in [run for run in runs if is_meant(run) and not run.running]:
            parts.run_diagnostics.remove(run)
            runs.discard(run)
            if run.outcome is not None:
                tasks.spawn(asyncio.to_thread(api.history.discard, run.outcome.run))

    @server.command("greenloop.answer")
    def answer(*arguments: Any) -> None:
        params = answer_params(command_argument(arguments))
        is_meant = run_filter(documents, runs, arguments)
        open_questions = [run.question for run in runs if run.question is not None and is_meant(run)]
        question = next((each for each in open_questions if each.text == params.question), None)
        if question is None:
            client.show_message("That question is no longer open.")
        else:
            question.close(_answer(question, params))


def reply(run: Run) -> dict[str, Any]:
    """The reply to `greenloop/refine`; docs/protocol.md describes it."""
    outcome = run.outcome
    reason = outcome.reason if outcome else StopReason.CANCELLED if run.cancelled else None
    return {
        "solved": bool(outcome and outcome.solved),
        "verified": (outcome.verified if outcome else Verified.UNVERIFIED).value,
        "reason": reason.value if reason else run.result.refusal,
        "attempts": max(len(run.attempts) - 1, 0),
        "applied": run.result.applied,
        "gain": describe_gain(outcome.evidence) if outcome else "",
    }


def _answer(question: Question, params: AnswerParams) -> UserReply:
    """The answer to a question. Raises `JsonRpcInvalidParams` for an invalid one; the question stays open."""
    if params.answer is not None:
        if params.answer not in question.options:
            raise JsonRpcInvalidParams(f"'answer' must be one of: {', '.join(question.options) or 'none, a value'}.")
        return UserReply(option=params.answer)
    if question.options and question.typed_option is None:
        raise JsonRpcInvalidParams("This question takes one of its options, not a value.")
    try:
        value = parse_literal_input(params.value or "")
    except ValueError as error:
        raise JsonRpcInvalidParams(str(error)) from error
    return UserReply(option=question.typed_option, value=value)
