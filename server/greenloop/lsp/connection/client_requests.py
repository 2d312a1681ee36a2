"""Requests and notifications to the editor.

Each request is sent only where declared, has a timeout, and may fail. A failure is an ordinary result (None, False): an
editor that lacks a capability never ends a run.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from greenloop.lsp.connection.messages import QUESTION, QUESTION_OVER, REFUSED, REVIEW

if TYPE_CHECKING:
    from greenloop.lsp.runs.questions import Question
    from greenloop.lsp.runs.runs import Run
    from greenloop.lsp.server import Server

log = logging.getLogger(__name__)
T = TypeVar("T")

# Seconds. Editors answer automatically in milliseconds; users need time to read.
SOON = 10.0
PERSON = 600.0
NUDGES = (0.2, 1.0)
# Between the reply to a command and the messages that it leads to: see `after_reply`.
APART = 0.1


async def bounded(request: Awaitable[T], seconds: float, what: str) -> T | None:
    """The reply, or None where it is an error or does not come in time.

    Shielded: a cancelled caller must not cancel the request, because its reply may still come.
    """
    future = asyncio.ensure_future(request)
    future.add_done_callback(lambda done: None if done.cancelled() else done.exception())
    try:
        # Not `wait_for`: before Python 3.12 it loses a cancellation that comes together with the reply.
        async with asyncio.timeout(seconds):
            return await asyncio.shield(future)
    except TimeoutError:
        log.info("The editor did not answer %s within %g s", what, seconds)
        future.cancel()
    except JsonRpcException as error:
        log.info("The editor refused %s: %s", what, error.code)
    return None


async def apart() -> None:
    """Waits until the editor has read a reply that was just sent.

    Emacs stops reading at the reply it waits for: lsp-mode 8 loses what came in the same chunk, and eglot 1.9 leaves it
    unread until more comes. Called before any message that a command leads to.
    """
    await asyncio.sleep(APART)


def nudge(server: Server, request: asyncio.Future[Any], what: str) -> None:
    """Sends a log line or two while the editor does not answer, so that eglot reads the rest (`after_reply`)."""

    def write_log() -> None:
        if not request.done():
            message = f"Waiting for the editor to answer {what}"
            server.window_log_message(lsp.LogMessageParams(type=lsp.MessageType.Log, message=message))

    for delay in NUDGES:
        asyncio.get_running_loop().call_later(delay, write_log)


def tell(server: Server, text: str, kind: lsp.MessageType = lsp.MessageType.Info) -> None:
    server.window_show_message(lsp.ShowMessageParams(type=kind, message=text))


def refused(
    server: Server,
    message: str,
    *,
    reason: str,
    remedy: str = "",
    uri: str = "",
    target: str = "",
    kind: lsp.MessageType = lsp.MessageType.Error,
) -> None:
    """Reports a refusal and its remedy: as greenloop's notification where the client declared it, else as a message."""
    if not server.abilities.refusals:
        tell(server, " ".join(filter(None, (message, remedy))), kind)
        return
    fields = {"uri": uri, **({"target": target} if target else {})}
    server.protocol.notify(REFUSED, {**fields, "reason": reason, "message": message, "remedy": remedy})


def review(server: Server, run: Run) -> None:
    """Tells a client that declared `review` that a result is ready; a command then applies or discards it."""
    assert run.outcome is not None
    fields = {"uri": run.uri, "target": run.target.selector}
    server.protocol.notify(REVIEW, {**fields, "attempt": run.outcome.best or 0})


async def ask(server: Server, question: str, options: Sequence[str], *, seconds: float = PERSON) -> str | None:
    """The chosen option; None where the editor cannot ask or the user does not answer."""
    if not server.abilities.questions:
        return None
    return await bounded(choice(server, question, options), seconds, "a question")


async def choice(server: Server, question: str, options: Sequence[str]) -> str | None:
    """The chosen option, None for any other reply. Raises `JsonRpcException` where the editor refuses; no timeout."""
    reply = await server.window_show_message_request_async(
        lsp.ShowMessageRequestParams(
            type=lsp.MessageType.Info,
            message=question,
            actions=[lsp.MessageActionItem(title=option) for option in options],
        )
    )
    title = getattr(reply, "title", None)
    return title if title in options else None


def question(server: Server, run: Run, asked: Question, seconds: float) -> None:
    """Sends a question to a client with its own dialogue, which answers by `greenloop.answer`."""
    fields = {"uri": run.uri, "target": run.target.selector, "question": asked.text}
    server.protocol.notify(QUESTION, {**fields, "options": list(asked.options), "seconds": seconds})


def question_over(server: Server, run: Run, asked: Question) -> None:
    """Tells such a client that a question is answered or no longer open."""
    fields = {"uri": run.uri, "target": run.target.selector, "question": asked.text}
    server.protocol.notify(QUESTION_OVER, fields)


async def show(server: Server, uri: str, line: int | None = None) -> bool:
    """Opens a document, at a 1-based line. False where the editor cannot, or does not confirm that it did."""
    await apart()
    if not server.abilities.show_document:
        return False
    start = lsp.Position(line=line - 1, character=0) if line else None
    request = server.window_show_document_async(
        lsp.ShowDocumentParams(
            uri=uri, external=False, take_focus=True, selection=lsp.Range(start=start, end=start) if start else None
        )
    )
    return bool(getattr(await bounded(request, SOON, "to show a document"), "success", False))


async def open_progress(server: Server) -> str | None:
    """A new progress token that the editor accepted; None where it did not."""
    await apart()
    if not server.abilities.progress:
        return None
    token, accepted, is_over = str(uuid.uuid4()), False, False
    tokens = server.work_done_progress.tokens

    async def create() -> bool:
        await server.work_done_progress.create_async(token)
        if is_over:
            tokens.pop(token, None)
        return True

    try:
        accepted = bool(await bounded(create(), SOON, "for progress"))
    finally:
        is_over = True
        if not accepted:
            # A cancellation or timeout may coincide with the reply.
            tokens.pop(token, None)
    return token if accepted else None


async def refresh_lenses(server: Server) -> None:
    """Asks the editor to request code lenses again."""
    if server.abilities.refresh_lenses:
        await bounded(server.workspace_code_lens_refresh_async(None), SOON, "to refresh code lenses")


async def configuration(server: Server, roots: Sequence[Path]) -> Sequence[Any] | None:
    """The editor's `greenloop` sections: one for each of these folders, and one for files outside them.

    None where the editor cannot provide them.
    """
    if not server.abilities.configuration:
        return None
    scopes = [*map(server.documents.folder, roots), None]
    items = [lsp.ConfigurationItem(scope_uri=scope, section="greenloop") for scope in scopes]
    params = lsp.ConfigurationParams(items=items)
    reply = await bounded(server.workspace_configuration_async(params), SOON, "for its configuration")
    return reply if isinstance(reply, Sequence) and not isinstance(reply, str) else None
