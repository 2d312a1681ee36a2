"""`model = "editor"`: the editor's own language model, queried through the connection.

The client streams pieces by `greenloop/completing` and finally answers `greenloop/complete`; cancelling a completion
also cancels the request. This module must not know what the answers mean.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from greenloop.api.settings import EDITOR, Settings
from greenloop.core.errors import TOO_LONG, ContextTooLongError, ModelError
from greenloop.core.records.model import ChatRequest, Message, Reply, ToolCall, Usage
from greenloop.core.text.redact import clean_for_display
from greenloop.core.text.tokens import count_message, estimate_messages, estimate_tokens
from greenloop.core.text.written_calls import as_plain
from greenloop.lsp.connection.client import SOON, Client, with_timeout
from greenloop.lsp.connection.messages import COMPLETE, MODEL_INFO

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


async def request_info(client: Client) -> ModelInfo:
    """The properties of the model that the client would ask now; nothing is known of one that does not tell."""
    if not client.capabilities.model_info:
        return ModelInfo()
    request = asyncio.ensure_future(client.request(MODEL_INFO, {}))
    try:
        return read_info(await with_timeout(request, SOON, "for its language model"))
    finally:
        # A cancelled run does not need the answer.
        request.cancel()


class EditorModel:
    """The model of one connection; the client chooses which."""

    def __init__(self, client: Client, streams: AnswerStreams, settings: Settings, info: ModelInfo) -> None:
        self._client, self._streams, self._info = client, streams, info
        self._patience = settings.api.timeout

    @property
    def name(self) -> str:
        return EDITOR

    @property
    def slots(self) -> int:
        return SLOTS

    @property
    def calls_tools(self) -> bool:
        return self._info.takes_tools

    @property
    def context(self) -> int:
        """The most tokens of a prompt, which is a little less than those of prompt and answer."""
        return self._info.max_input_tokens

    async def complete(self, request: ChatRequest, on_token: Callable[[str], None]) -> Reply:
        """The model's answer. Raises `ModelError` with the client's own sentence, or after too long a silence."""
        began = monotonic()
        if not self.calls_tools:
            request = replace(request, tools=())
        max_tokens = TOKEN_FACTOR * request.max_tokens + EXTRA_TOKENS
        listener = _TokenListener(on_token, max_tokens)
        number = self._streams.add(listener.receive)
        request_task = asyncio.create_task(self._client.request(COMPLETE, request_params(number, request)))
        try:
            reply = await self._wait(request_task, listener)
        except JsonRpcException as error:
            raise _problem(error) from error
        finally:
            self._streams.remove(number)
            request_task.cancel()
            await asyncio.gather(request_task, return_exceptions=True)
        wanted_calls = read_calls(reply.get("toolCalls"), number) if request.tools else ()
        calls = limited_calls(wanted_calls, max_tokens)
        text = reply.get("text")
        if not isinstance(text, str):
            if not wanted_calls:
                raise ModelError("The editor's language model returned no text.", remedy=REMEDY)
            text = ""
        for stop in request.stop:
            text = text.partition(stop)[0]
        model = reply.get("model")
        return Reply(
            text=text,
            usage=_usage(request, reply, text, calls, monotonic() - began),
            model=(_sentence(model) if isinstance(model, str) else "") or EDITOR,
            finish="length" if reply.get("cut") or len(calls) < len(wanted_calls) else "stop",
            calls=calls,
        )

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


def _usage(
    request: ChatRequest, reply: Mapping[str, Any], text: str, calls: tuple[ToolCall, ...], seconds: float
) -> Usage:
    """The tokens that the client counted, or else estimates."""
    answer = Message(role="assistant", content=text, calls=calls)
    return Usage(
        prompt_tokens=positive_count(reply.get("promptTokens")) or estimate_messages(request.messages),
        completion_tokens=positive_count(reply.get("completionTokens")) or count_message(answer, estimate_tokens),
        cost=None,
        model_seconds=seconds,
    )


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


# -- requests and answers as JSON -------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class ModelInfo:
    """Properties of the editor's model: does it take tools, and the most tokens of a prompt (0: not known)."""

    takes_tools: bool = False
    max_input_tokens: int = 0


def read_info(reply: Any) -> ModelInfo:
    """The properties that a client reports; those that are missing or malformed are not known."""
    fields = reply if isinstance(reply, Mapping) else {}
    return ModelInfo(
        takes_tools=fields.get("tools") is True, max_input_tokens=positive_count(fields.get("maxInputTokens"))
    )


def positive_count(value: Any) -> int:
    """The client's token count; 0 where it is missing or not a positive integer."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def request_params(number: int, request: ChatRequest) -> dict[str, Any]:
    """The parameters of a request. Without tools, earlier calls are text: many providers reject them otherwise."""
    messages = request.messages if request.tools else tuple(map(as_plain, request.messages))
    params: dict[str, Any] = {
        "id": number,
        "messages": [_message(message) for message in messages],
        "maxTokens": request.max_tokens,
        "temperature": request.temperature,
    }
    if request.tools:
        params["tools"] = [
            {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
            for tool in request.tools
        ]
    return params


def _message(message: Message) -> dict[str, Any]:
    fields: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.calls:
        fields["toolCalls"] = [
            {"id": call.id, "name": call.name, "arguments": call.arguments} for call in message.calls
        ]
    if message.call_id:
        fields["toolCallId"] = message.call_id
    return fields


def read_calls(raw: Any, number: int) -> tuple[ToolCall, ...]:
    """The calls of the answer to a request. Those without a name are left out; those without an id get one."""
    calls: dict[str, ToolCall] = {}
    for index, fields in enumerate(raw if isinstance(raw, list) else ()):
        name = fields.get("name") if isinstance(fields, Mapping) else None
        if not isinstance(name, str) or not name:
            continue
        id_ = fields.get("id")
        if not isinstance(id_, str) or not id_ or id_ in calls:
            id_ = f"call_{number}_{index}"
        calls[id_] = ToolCall(id=id_, name=name, arguments=_arguments(fields.get("arguments")))
    return tuple(calls.values())


def _arguments(raw: Any) -> str:
    """The JSON text of a call's arguments, which a client may also send as an object."""
    if isinstance(raw, str):
        return raw
    return "{}" if raw is None else json.dumps(raw)


def limited_calls(calls: Sequence[ToolCall], max_tokens: int) -> tuple[ToolCall, ...]:
    """The first calls, as far as they have at most `max_tokens` tokens together."""
    kept: list[ToolCall] = []
    for call in calls:
        max_tokens -= sum(map(estimate_tokens, (call.id, call.name, call.arguments)))
        if max_tokens < 0:
            break
        kept.append(call)
    return tuple(kept)
