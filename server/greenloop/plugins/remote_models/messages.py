"""Writes messages and tools in the form of chat completions, and marks prefixes for a cache.

It must not know how they are sent.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from greenloop.core.records.model import Message, ToolCall, ToolSpec

PROVIDER = "provider"  # in a message's `extra`: who gave it, and alone can read it
# Fields of a message that a provider may refuse.
THINKING = ("thinking_blocks", "reasoning_content", "reasoning_items", "provider_specific_fields")
CACHE = "cache_control"
# Providers that keep only marked prefixes of prompts in their cache, and only those of Claude.
MARKED = ("anthropic", "azure_ai", "bedrock", "openrouter", "vertex_ai")

Fields = dict[str, Any]


def takes_marks(provider: str, model: str) -> bool:
    """Does the provider want marks at the parts of a prompt that it may keep?"""
    return provider in MARKED and "claude" in model.lower()


def write_messages(messages: Sequence[Message], provider: str, *, left_out: Collection[str] = ()) -> list[Fields]:
    """The messages, with the data that this provider gave and without the fields of `left_out`.

    With `tools` in `left_out`, calls and their results are written as text.
    """
    if "tools" in left_out:
        messages = [_without_calls(message) for message in messages]
    written = [_write(message, provider) for message in messages]
    return [{name: value for name, value in each.items() if name not in left_out} for each in written]


def write_tools(tools: Sequence[ToolSpec]) -> list[Fields]:
    """The tools as functions."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": _plain(tool.parameters)},
        }
        for tool in tools
    ]


def mark_prefixes(written: Sequence[Fields]) -> None:
    """Marks what the next request of this conversation has in common with this one, and this one with the last.

    That are the instructions and, in a conversation, the ends of the last request and of this one.
    """
    ends = [number for number, each in enumerate(written) if each["role"] == "system"][-1:]
    answers = [number for number, each in enumerate(written) if each["role"] == "assistant"]
    if answers:
        ends += [answers[-1] - 1, len(written) - 1]
    for number in ends:
        written[number][CACHE] = {"type": "ephemeral"}


def _write(message: Message, provider: str) -> Fields:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.call_id, "content": message.content}
    if not message.calls:
        return {"role": message.role, "content": message.content, **_returned(message.extra, provider)}
    return {
        "role": message.role,
        "content": message.content or None,
        "tool_calls": [_write_call(call, provider) for call in message.calls],
        **_returned(message.extra, provider),
    }


def _write_call(call: ToolCall, provider: str) -> Fields:
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": _object(call.arguments)},
        **_returned(call.extra, provider),
    }


def _object(arguments: str) -> str:
    """The arguments as the JSON object that servers read; what the model wrote instead stays visible to it."""
    try:
        is_object = isinstance(json.loads(arguments or "{}"), dict)
    except ValueError:
        is_object = False
    return (arguments or "{}") if is_object else json.dumps({"unreadable": arguments})


def _returned(extra: Mapping[str, Any], provider: str) -> Fields:
    """The data of a provider that goes back to it; to nobody else, who would refuse it."""
    return {name: value for name, value in extra.items() if name != PROVIDER} if extra.get(PROVIDER) == provider else {}


def _without_calls(message: Message) -> Message:
    if message.role == "tool":
        return Message(role="user", content=f"Result of {message.call_id}:\n{message.content}")
    calls = [f"Call {call.id}: {call.name}({call.arguments})" for call in message.calls]
    return Message(role=message.role, content="\n".join(filter(None, [message.content, *calls])))


def _plain(value: Any) -> Any:
    """A schema of plain dictionaries and lists, which may be changed."""
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value
