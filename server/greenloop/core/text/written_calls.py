"""Reads and writes calls of tools as lines of text, for models without function calling.

A call is a line `LOOK name {"argument": "value"}`. This module must not know which tools there are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace

from greenloop.core.records.model import Message, ToolCall

MARK = "LOOK"
_CALL = re.compile(rf"^[ \t>*-]*`*{MARK}:?[ \t]+`?(\w+)`?[ \t]*\(?[ \t]*(\{{.*\}})?[ \t]*\)?`*[ \t]*$")
_EMPTY = re.compile(r"^[ \t]*(`{3,}|~{3,})\w*\n\s*^[ \t]*\1[ \t]*$", re.MULTILINE)
_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})")


def write_calls(calls: Sequence[ToolCall]) -> str:
    """Returns the calls, one in each line."""
    return "\n".join(f"{MARK} {call.name} {_in_one_line(call.arguments)}" for call in calls)


def _in_one_line(arguments: str) -> str:
    try:
        return json.dumps(json.loads(arguments), ensure_ascii=False)
    except (ValueError, RecursionError):
        return " ".join(arguments.split())


def read_calls(text: str) -> tuple[ToolCall, ...]:
    """Returns the calls in an answer, in order.

    Of code in a fence only a block that has nothing but calls counts: other code may hold such a line in a text.
    """
    found: list[ToolCall] = []
    block: list[str] | None = None
    for line in text.split("\n"):
        if _FENCE.match(line):
            if block is not None and all(_CALL.match(row) for row in block if row.strip()):
                found += filter(None, map(_read_call, block))
            block = [] if block is None else None
        elif block is not None:
            block.append(line)
        elif call := _read_call(line):
            found.append(call)
    return tuple(replace(call, id=f"look_{number}") for number, call in enumerate(found, 1))


def without_calls(text: str) -> str:
    """Returns the text without the lines that are calls, and without fences that had nothing else."""
    return _EMPTY.sub("", "\n".join(line for line in text.split("\n") if not _CALL.match(line))).strip()


def as_plain(message: Message) -> Message:
    """Returns the message with its calls as lines of text; the result of a call becomes a message of the user."""
    if message.role == "tool":
        return Message(role="user", content=message.content)
    if not message.calls:
        return replace(message, extra={})
    parts = (message.content.rstrip(), write_calls(message.calls))
    return Message(role=message.role, content="\n\n".join(part for part in parts if part))


def _read_call(line: str) -> ToolCall | None:
    match = _CALL.match(line)
    return ToolCall(id="", name=match[1], arguments=match[2] or "{}") if match else None
