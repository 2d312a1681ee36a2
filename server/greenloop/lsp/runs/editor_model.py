"""`model = "editor"`: the editor's own language model, queried through the connection.

The client streams pieces by `greenloop/completing` and finally answers `greenloop/complete`; cancelling a completion
also cancels the request.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from time import monotonic
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from greenloop.core.errors import ContextTooLongError, ModelError
from greenloop.core.records.model import ChatRequest, Reply
from greenloop.core.records.usage import Usage
from greenloop.core.text.redact import clean_for_display
from greenloop.core.text.tokens import estimate_messages, estimate_tokens
from greenloop.lsp.connection.messages import COMPLETE
from greenloop.models.provider_errors import TOO_LONG
from greenloop.project.settings import EDITOR, Settings

if TYPE_CHECKING:
    from greenloop.lsp.server import Server

# Parallel requests: behind most editors' models is a provider.
SLOTS = 4
# Editors' models need not respect a limit: an answer is cut at TOKEN_FACTOR times its tokens plus EXTRA_TOKENS.
TIMES, MORE = 4, 256
LONGEST = 300  # maximum characters of a client's sentence or name
REMEDY = "Choose another of the editor's models, or name another model with the setting `model`."


class EditorModel:
    """The model of one connection; the client chooses which."""

    def __init__(self, server: Server, settings: Settings) -> None:
        self._server = server
        self._patience = settings.api.timeout

    @property
    def name(self) -> str:
        return EDITOR

    @property
    def slots(self) -> int:
        return SLOTS

    async def complete(self, request: ChatRequest, on_token: Callable[[str], None]) -> Reply:
        """The model's answer. Raises `ModelError` with the client's own sentence, or after too long a silence."""
        began = monotonic()
        listener = _Hearing(on_token, TIMES * request.max_tokens + MORE)
        number = self._server.listen(listener.hear)
        request_task = asyncio.create_task(self._server.protocol.ask(COMPLETE, _params(number, request)))
        try:
            reply = await self._answered(request_task, listener)
        except JsonRpcException as error:
            raise _problem(error) from error
        finally:
            self._server.completing.pop(number, None)
            request_task.cancel()
            await asyncio.gather(request_task, return_exceptions=True)
        text, finish = reply.get("text"), "length" if reply.get("cut") else "stop"
        if not isinstance(text, str):
            raise ModelError("The editor's language model gave no text.", remedy=REMEDY)
        for stop in request.stop:
            text = text.partition(stop)[0]
        model = reply.get("model")
        usage = Usage(
            prompt_tokens=_count(reply.get("promptTokens")) or estimate_messages(request.messages),
            completion_tokens=_count(reply.get("completionTokens")) or estimate_tokens(text),
            cost=None,
            model_seconds=monotonic() - began,
        )
        name = _sentence(model) if isinstance(model, str) else ""
        return Reply(text=text, usage=usage, model=name or EDITOR, finish=finish)

    def count_tokens(self, text: str) -> int:
        return estimate_tokens(text)

    async def close(self) -> None:
        """Does nothing: the connection stays open."""

    async def _answered(self, asked: asyncio.Task[Any], hearing: _Hearing) -> Mapping[str, Any]:
        """The reply, or the pieces received so far of an answer that is too long."""
        while not asked.done():
            remaining = hearing.at + self._patience - monotonic()
            if remaining <= 0:
                raise ModelError(
                    f"The editor's language model gave no sign of life for {self._patience:g} seconds.",
                    remedy=f"Try again, or raise `api.timeout`. {REMEDY}",
                )
            await asyncio.wait({asked, hearing.enough}, timeout=remaining, return_when=asyncio.FIRST_COMPLETED)
            if hearing.enough.done() and not asked.done():
                return {"text": "".join(hearing.pieces), "cut": True}
        reply = asked.result()
        return reply if isinstance(reply, Mapping) else {}


class _Hearing:
    """Collects the pieces of one answer, the time of the last piece, and whether the answer is too long."""

    def __init__(self, on_token: Callable[[str], None], most: int) -> None:
        self._on_token, self._left = on_token, most
        self.pieces: list[str] = []
        self.at = monotonic()
        self.enough: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def hear(self, piece: str) -> None:
        self.at = monotonic()
        if self.enough.done() or not piece:
            return
        self.pieces.append(piece)
        self._left -= estimate_tokens(piece)
        self._on_token(piece)
        if self._left < 0:
            self.enough.set_result(None)


def _params(number: int, request: ChatRequest) -> dict[str, Any]:
    return {
        "id": number,
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        "maxTokens": request.max_tokens,
        "temperature": request.temperature,
    }


def _problem(error: JsonRpcException) -> ModelError:
    """The error with the client's own sentence, which knows about consent, quotas and available models."""
    if error.code == lsp.LSPErrorCodes.RequestCancelled:
        return ModelError("The editor cancelled the request to its language model.", remedy=REMEDY)
    sentence = _sentence(error.message) or "The editor's language model could not be asked"
    sentence = sentence if sentence.endswith((".", "!", "?", "…")) else f"{sentence}."
    if TOO_LONG.search(sentence):
        return ContextTooLongError(sentence, remedy=f"Lower `prompt.tokens`. {REMEDY}")
    return ModelError(sentence, remedy=REMEDY)


def _sentence(text: str) -> str:
    line = " ".join(clean_for_display(text).split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def _count(value: Any) -> int:
    """The client's token count; 0 where it is missing or not a positive integer."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
