"""Converts requests to the editor's own language model to JSON, and its answers back.

This module must not know the connection. A malformed part of an answer is left out, or replaced.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from greenloop.core.records.model import ChatRequest, Message, ToolCall
from greenloop.core.text.tokens import estimate_tokens
from greenloop.core.text.written_calls import as_plain


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
