"""`model = "editor"`: the editor's own language model, queried through the connection.

The client streams pieces by `greenloop/completing` and finally answers `greenloop/complete`; cancelling a completion
also cancels the request.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from greenloop.core.errors import ContextTooLongError, ModelError
from greenloop.core.records.model import ChatRequest, Reply
from greenloop.core.records.usage import Usage
from greenloop.core.text.redact import clean_for_display
from greenloop.core.text.tokens import estimate_messages, estimate_tokens
from greenloop.lsp.connection.client import Client
from greenloop.lsp.connection.messages import COMPLETE
from greenloop.models.provider_errors import TOO_LONG
from greenloop.project.settings import EDITOR, Settings

# Parallel requests: behind most editors' models is a provider.
SLOTS = 4
# Editors' models need not respect a limit: an answer is cut at TOKEN_FACTOR times its tokens plus EXTRA_TOKENS.
TOKEN_FACTOR, EXTRA_TOKENS = 4, 256
LONGEST = 300  # maximum characters of a client's sentence or name
REMEDY = "Choose another of the editor's models, or name another model with the setting `model`."


class AnswerStreams:
    """The callbacks for the streamed answers of the editor's own model, by request number."""

    def __init__(self) -> None:
        self._listeners: dict[int, Callable[[str], None]] = {}
        self._numbers = itertools.count(1)

    def add(self, listener: Callable[[str], None]) -> int:
        """Registers a callback for the pieces of one answer; returns the request's number."""
        number = next(self._numbers)
        self._listeners[number] = listener
        return number

    def remove(self, number: int) -> None:
        self._listeners.pop(number, None)

    def receive(self, number: int, piece: str) -> None:
        """Takes a piece; one of a cancelled request may still arrive."""
        if (listener := self._listeners.get(number)) is not None:
            listener(piece)


class EditorModel:
    """The model of one connection; the client chooses which."""

    def __init__(self, client: Client, streams: AnswerStreams, settings: Settings) -> None:
        self._client, self._streams = client, streams
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
        listener = _TokenListener(on_token, TOKEN_FACTOR * request.max_tokens + EXTRA_TOKENS)
        number = self._streams.add(listener.receive)
        request_task = asyncio.create_task(self._client.request(COMPLETE, _params(number, request)))
        try:
            reply = await self._wait(request_task, listener)
        except JsonRpcException as error:
            raise _problem(error) from error
        finally:
            self._streams.remove(number)
            request_task.cancel()
            await asyncio.gather(request_task, return_exceptions=True)
        text, finish = reply.get("text"), "length" if reply.get("cut") else "stop"
        if not isinstance(text, str):
            raise ModelError("The editor's language model returned no text.", remedy=REMEDY)
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

    async def _wait(self, request: asyncio.Task[Any], listener: _TokenListener) -> Mapping[str, Any]:
        """The reply, or the pieces received so far of an answer that is too long."""
        while not request.done():
            remaining = listener.last_at + self._patience - monotonic()
            if remaining <= 0:
                raise ModelError(
                    f"The editor's language model did not respond for {self._patience:g} seconds.",
                    remedy=f"Try again, or raise `api.timeout`. {REMEDY}",
                )
            await asyncio.wait({request, listener.is_full}, timeout=remaining, return_when=asyncio.FIRST_COMPLETED)
            if listener.is_full.done() and not request.done():
                return {"text": "".join(listener.pieces), "cut": True}
        reply = request.result()
        return reply if isinstance(reply, Mapping) else {}


class _TokenListener:
    """Collects the pieces of one answer, the time of the last piece, and whether the answer is too long."""

    def __init__(self, on_token: Callable[[str], None], max_tokens: int) -> None:
        self._on_token, self._tokens_left = on_token, max_tokens
        self.pieces: list[str] = []
        self.last_at = monotonic()
        self.is_full: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def receive(self, piece: str) -> None:
        self.last_at = monotonic()
        if self.is_full.done() or not piece:
            return
        self.pieces.append(piece)
        self._tokens_left -= estimate_tokens(piece)
        self._on_token(piece)
        if self._tokens_left < 0:
            self.is_full.set_result(None)


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
    sentence = _sentence(error.message) or "The editor's language model could not be used"
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
