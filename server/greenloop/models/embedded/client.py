"""Sends one streamed request to the embedded model's server, over plain HTTP on this machine.

This module must not know what the requests mean.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from typing import Any

import httpx

from greenloop.core.errors import ContextTooLongError, ModelError
from greenloop.models.embedded import server


class ServerLostError(Exception):
    """The connection broke: the server has exited or is about to."""


async def events(
    running: server.RunningServer, path: str, body: dict[str, Any], timeout_seconds: float
) -> AsyncGenerator[dict[str, Any], None]:
    """Streams the answer's events. Stopping early closes the connection, which makes the server free the slot.

    `timeout_seconds`: the longest time without any data. Raises `ModelError`, and `ServerLostError` if the request
    should be sent to a new server.
    """
    timeout = httpx.Timeout(timeout_seconds, connect=5)
    # A connection is used once: the server sometimes drops one that was kept after a streamed answer.
    limits = httpx.Limits(max_keepalive_connections=0)
    headers = {"Authorization": f"Bearer {running.key}"}
    url = f"http://127.0.0.1:{running.port}{path}"
    try:
        async with (
            httpx.AsyncClient(trust_env=False, verify=False, timeout=timeout, limits=limits) as client,  # noqa: S501 - plain http
            client.stream("POST", url, json={**body, "stream": True}, headers=headers) as response,
        ):
            if response.status_code != httpx.codes.OK:
                raise _error_of(await response.aread(), response.status_code, running)
            is_complete = False
            async for line in response.aiter_lines():
                if not line.startswith("data: "):
                    continue
                if is_complete := line == "data: [DONE]":
                    break
                event = json.loads(line.removeprefix("data: "))
                if "error" in event:
                    raise _error_of(line.removeprefix("data: ").encode(), 500, running)
                yield event
                # Raw completions mark their last event; chats end with a `[DONE]` line.
                if is_complete := event.get("stop") is True:
                    break
            if not is_complete:
                raise ServerLostError("the answer broke off")
    except httpx.ReadTimeout as error:
        raise ModelError(
            f"The embedded model did not respond for {timeout_seconds:g} seconds.",
            remedy="Is the machine very busy? Raise `api.timeout`, or run `greenloop model stop` and try again.",
        ) from error
    except httpx.TransportError as error:
        raise ServerLostError(str(error) or type(error).__name__) from error


def _error_of(content: bytes, status: int, running: server.RunningServer) -> ModelError | ServerLostError:
    """The exception for an error answer of the server."""
    try:
        error = json.loads(content)["error"]
        error_type, message = str(error.get("type", "")), str(error.get("message", ""))
    except (ValueError, KeyError, TypeError, AttributeError):
        error_type, message = "", content.decode(errors="replace")[:200]
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
