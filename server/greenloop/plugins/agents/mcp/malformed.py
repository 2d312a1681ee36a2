"""Malformed requests: each gets one clear error, also where the SDK would not answer at all."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterable, Awaitable, Callable, Iterable
from typing import Any

import mcp_types as types
from anyio.abc import ObjectSendStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

MOST = 3  # errors that one answer names


async def forward_messages(
    received: AsyncIterable[SessionMessage | Exception],
    messages: ObjectSendStream[SessionMessage | Exception],
    answer: Callable[[SessionMessage], Awaitable[None]],
) -> None:
    """Passes messages on until the last one, and answers every line that is not one."""
    async with messages:
        async for item in received:
            if isinstance(item, SessionMessage):
                await messages.send(item)
            elif (error := describe_line(item)) is not None:
                await answer(SessionMessage(error))


def describe_line(error: Exception) -> types.JSONRPCError | None:
    """The answer to a line that is not a message, with its id if it has one; None for empty lines and for responses."""
    found = error.errors() if isinstance(error, ValidationError) else []
    is_json = bool(found) and found[0]["type"] != "json_invalid"
    # An error in a message as a whole, such as a missing part, has the message as its input.
    whole = (each["input"] for each in found if len(each["loc"]) < 2 or each["type"] == "missing")
    message: Any = next(whole, None)
    if not is_json:
        if not str(message or "").strip():
            return None
        with contextlib.suppress(ValueError, RecursionError):
            message = json.loads(message)  # reads what is not valid Unicode, too
    number = None
    if isinstance(message, dict):
        if "method" not in message and ("result" in message or "error" in message):
            return None
        number = message.get("id")
    code, what = (types.INVALID_REQUEST, "a JSON-RPC 2.0 request") if is_json else (types.PARSE_ERROR, "valid JSON")
    return types.JSONRPCError(
        jsonrpc="2.0",
        id=number if type(number) in {str, int} else None,
        error=types.ErrorData(code=code, message=f"The message is not {what}. Send one message in each line."),
    )


def describe_arguments(tool: str, known: Iterable[str], error: ValidationError) -> str:
    """Describes the errors in the arguments of a call, in one sentence."""
    wrong = []
    for each in sorted(error.errors(), key=lambda each: each["type"] != "extra_forbidden")[:MOST]:
        name = ".".join(map(str, each["loc"]))
        if each["type"] == "extra_forbidden":
            wrong.append(f"there is no {name} (but {', '.join(known)})")
        else:
            reason = each["msg"].removeprefix("Value error, ")
            wrong.append(f"{name}: {reason[:1].lower()}{reason[1:]}")
    return f"The arguments of {tool} are wrong: {'; '.join(wrong)}."
