"""Sends one streamed request to the embedded model's server, over plain HTTP on this machine.

This module must not know what the requests mean.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from typing import Any

import httpx

from greenloop.core.errors import ContextTooLongError, ModelError
from greenloop.models.chat.completions import Connection, RefusedError, send
from greenloop.plugins.embedded import server


class ServerLostError(Exception):
    """The connection broke: the server has exited or is about to."""


async def events(
    client: httpx.AsyncClient,
    running: server.RunningServer,
    path: str,
    body: dict[str, Any],
    timeout_seconds: float,
) -> AsyncGenerator[dict[str, Any], None]:
    """Streams the answer's events. Stopping early closes the connection, which makes the server free the slot.

    `timeout_seconds`: the longest time without any data. Raises `ModelError`, and `ServerLostError` if the request
    should be sent to a new server.
    """
    base = f"http://127.0.0.1:{running.port}"
    connection = Connection(base=base, key=running.key, seconds=timeout_seconds)
    is_complete = False
    try:
        async with send(path, {**body, "stream": True}, connection, client) as response:
            async for line in response.aiter_lines():
                if not line.startswith("data: "):
                    continue
                if is_complete := line == "data: [DONE]":
                    break
                event = json.loads(line.removeprefix("data: "))
                if "error" in event:
                    raise _error_of(line.removeprefix("data: "), 500, running)
                yield event
                # Raw completions mark their last event; chats end with a `[DONE]` line.
                if is_complete := event.get("stop") is True:
                    break
    except RefusedError as error:
        raise _error_of(str(error), error.status_code, running) from error
    except httpx.ReadTimeout as error:
        raise ModelError(
            f"The embedded model did not respond for {timeout_seconds:g} seconds.",
            remedy="Is the machine very busy? Raise `api.timeout`, or run `greenloop model stop` and try again.",
        ) from error
    except (httpx.TransportError, ConnectionError) as error:
        raise ServerLostError(str(error) or type(error).__name__) from error
    if not is_complete:
        raise ServerLostError("the answer broke off")


def _error_of(content: str, status: int, running: server.RunningServer) -> ModelError | ServerLostError:
    """The exception for an error answer of the server."""
    try:
        error = json.loads(content)["error"]
        error_type, message = str(error.get("type", "")), str(error.get("message", ""))
    except (ValueError, KeyError, TypeError, AttributeError):
        error_type, message = "", content[:200]
    if error_type == "exceed_context_size_error":
        return ContextTooLongError(
            f"The prompt is too long for the embedded model's context of {running.context} tokens.",
            remedy="Lower `prompt.tokens`, or raise `embedded.context`.",
        )
    if status in {httpx.codes.UNAUTHORIZED, httpx.codes.SERVICE_UNAVAILABLE}:
        # Another server took the port, or this one is still loading: read the state file again.
        return ServerLostError(message)
    return ModelError(
        f"The embedded model's server rejected the request: {message}.",
        remedy=f"See {server.log_file()} for details.",
    )
