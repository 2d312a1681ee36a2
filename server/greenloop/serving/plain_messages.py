"""Writes the tool calls of a conversation as text, for models of clients that take no tools.

This module must not know a protocol.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from greenloop.core.records.model import Message


def plain_messages(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages, with calls as text of the assistant and their results as text of the user."""
    names: dict[str, str] = {}
    plain: list[Message] = []
    for message in messages:
        names |= {call.id: call.name for call in message.calls}
        plain.append(_plain(message, names))
    return tuple(plain)


def _plain(message: Message, names: Mapping[str, str]) -> Message:
    if message.role == "tool":
        name = names.get(message.call_id, "a tool")
        return Message(role="user", content=f"Result of {name}:\n{message.content}")
    if not message.calls:
        return message
    calls = "\n".join(f"Call of {call.name}: {call.arguments}" for call in message.calls)
    return replace(message, content=f"{message.content}\n\n{calls}".lstrip("\n"), calls=())
