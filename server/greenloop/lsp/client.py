"""What the server asks of the editor. Every request is asked only where declared, is bounded in time, and may fail.

A failure is an answer like any other (None, False): an editor that cannot do a thing never ends a run.
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

from greenloop.lsp.protocol import QUESTION, QUESTION_OVER, REFUSED, REVIEW

if TYPE_CHECKING:
    from greenloop.lsp.questions import Question
    from greenloop.lsp.runs import Run
    from greenloop.lsp.server import Server

log = logging.getLogger(__name__)
T = TypeVar("T")

# Seconds. Editors answer by themselves in milliseconds; people are given time to read.
SOON = 10.0
PERSON = 600.0
NUDGES = (0.2, 1.0)
# Between the reply to a command and what it leads to: see `apart`.
APART = 0.1


async def bounded(request: Awaitable[T], seconds: float, what: str) -> T | None:
    """The reply, or None where it is an error or does not come in time.

    Shielded: a cancelled caller must not cancel the request, whose reply may still come.
    """
    future = asyncio.ensure_future(request)
    future.add_done_callback(lambda done: None if done.cancelled() else done.exception())
    try:
        # Not `wait_for`: before Python 3.12 it forgets a cancel that comes together with the reply.
        async with asyncio.timeout(seconds):
            return await asyncio.shield(future)
    except TimeoutError:
        log.info("The editor did not answer %s within %g s", what, seconds)
        future.cancel()
    except JsonRpcException as error:
        log.info("The editor refused %s: %s", what, error.code)
    return None


async def apart() -> None:
    """Waits until a reply that was just sent is read.

    Emacs throws out of reading at a reply that it waits for: what comes in the same piece is lost by lsp-mode 8, and
    left by eglot 1.9 until something else comes. Called before anything that a command leads to.
    """
    await asyncio.sleep(APART)


def nudge(server: Server, request: asyncio.Future[Any], what: str) -> None:
    """A line or two for the log of an editor that does not answer; what eglot has left unread (`apart`) comes along."""

    def say() -> None:
        if not request.done():
            message = f"Waiting for the editor to answer {what}"
            server.window_log_message(lsp.LogMessageParams(type=lsp.MessageType.Log, message=message))

    for after in NUDGES:
        asyncio.get_running_loop().call_later(after, say)


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
    """Why nothing could be done, and the cure: by the client's own way where it declared one, else as a message."""
    if not server.abilities.refusals:
        tell(server, " ".join(filter(None, (message, remedy))), kind)
        return
    about = {"uri": uri, **({"target": target} if target else {})}
    server.protocol.notify(REFUSED, {**about, "reason": reason, "message": message, "remedy": remedy})


def review(server: Server, run: Run) -> None:
    """The result waits: a client that declared it shows it, and has it applied or discarded by a command."""
    assert run.outcome is not None
    about = {"uri": run.uri, "target": run.target.selector}
    server.protocol.notify(REVIEW, {**about, "attempt": run.outcome.best or 0})


async def ask(server: Server, question: str, options: Sequence[str], *, seconds: float = PERSON) -> str | None:
    """The chosen option; None where the editor cannot ask or nobody answers."""
    if not server.abilities.questions:
        return None
    return await bounded(choice(server, question, options), seconds, "a question")


async def choice(server: Server, question: str, options: Sequence[str]) -> str | None:
    """The chosen option, None for any other reply. Raises `JsonRpcException` where the editor refuses; not bounded."""
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
    """For a client with a dialogue of its own, which answers by `greenloop.answer`."""
    about = {"uri": run.uri, "target": run.target.selector, "question": asked.text}
    server.protocol.notify(QUESTION, {**about, "options": list(asked.options), "seconds": seconds})


def question_over(server: Server, run: Run, asked: Question) -> None:
    """Answered, or no longer waited for."""
    about = {"uri": run.uri, "target": run.target.selector, "question": asked.text}
    server.protocol.notify(QUESTION_OVER, about)


async def show(server: Server, uri: str, line: int | None = None) -> bool:
    """Opens a document, at a 1-based line. False where the editor cannot or does not say that it did."""
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
    """A fresh progress token that the editor accepted."""
    await apart()
    if not server.abilities.progress:
        return None
    token, accepted, over = str(uuid.uuid4()), False, False
    tokens = server.work_done_progress.tokens

    async def create() -> bool:
        await server.work_done_progress.create_async(token)
        if over:
            tokens.pop(token, None)
        return True

    try:
        accepted = bool(await bounded(create(), SOON, "for progress"))
    finally:
        over = True
        if not accepted:
            # A cancel, or the end of the patience, may come in the very moment of the reply.
            tokens.pop(token, None)
    return token if accepted else None


async def refresh_lenses(server: Server) -> None:
    """Has the editor ask for code lenses again."""
    if server.abilities.refresh_lenses:
        await bounded(server.workspace_code_lens_refresh_async(None), SOON, "to refresh code lenses")


async def configuration(server: Server, roots: Sequence[Path]) -> Sequence[Any] | None:
    """The editor's `greenloop` sections: one for each of these folders, and one for what lies outside of them.

    None where it cannot say.
    """
    if not server.abilities.configuration:
        return None
    scopes = [*map(server.documents.folder, roots), None]
    items = [lsp.ConfigurationItem(scope_uri=scope, section="greenloop") for scope in scopes]
    params = lsp.ConfigurationParams(items=items)
    reply = await bounded(server.workspace_configuration_async(params), SOON, "for its configuration")
    return reply if isinstance(reply, Sequence) and not isinstance(reply, str) else None
