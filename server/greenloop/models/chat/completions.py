"""Sends a request to a server that speaks OpenAI's chat completions, and streams the pieces of its answer.

It must not know what is asked, nor when a request is sent again.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx

CONNECT_SECONDS = 10.0


class RefusedError(Exception):
    """An answer that is an error, with the text of the server; `response` has its headers."""

    def __init__(self, text: str, status: int, response: httpx.Response) -> None:
        super().__init__(text)
        self.status_code, self.response = status, response


class Fields(dict[str, Any]):
    """An object of JSON whose fields can be read as attributes; None where it has none of this name."""

    def __getattr__(self, name: str) -> Any:
        return self.get(name)


@dataclass(frozen=True, kw_only=True)
class Connection:
    """The address of a server, the key that it wants, and the seconds that it may be silent."""

    base: str
    key: str
    seconds: float


def open_client(*, is_local: bool = False) -> httpx.AsyncClient:
    """The client for all requests of one model, as making one takes 2 to 20 ms; the caller closes it.

    A connection is used once: some servers drop one that was kept after a streamed answer. `is_local`: plain HTTP on
    this machine, past any proxy.
    """
    limits = httpx.Limits(max_keepalive_connections=0)
    return httpx.AsyncClient(trust_env=not is_local, verify=not is_local, limits=limits, follow_redirects=not is_local)


async def stream(
    parameters: Mapping[str, Any], connection: Connection, client: httpx.AsyncClient
) -> AsyncGenerator[Fields, None]:
    """Yields the pieces of the answer. Stopping early closes the connection, which ends the generation.

    Raises `RefusedError`, `httpx.HTTPError`, and `ConnectionError` where the answer ends before its reason for it.
    """
    is_complete = False
    async with send("/chat/completions", parameters, connection, client) as response:
        async for line in response.aiter_lines():
            data = line.removeprefix("data:").strip()
            if not line.startswith("data:") or data == "[DONE]":
                continue
            piece = read_piece(data, response)
            is_complete = is_complete or any(choice.finish_reason for choice in piece.choices or ())
            yield piece
    if not is_complete:
        raise ConnectionError("the answer ended early")


@asynccontextmanager
async def send(
    path: str, body: Mapping[str, Any], connection: Connection, client: httpx.AsyncClient
) -> AsyncGenerator[httpx.Response, None]:
    """Opens the response to a body. Raises `RefusedError`, `httpx.HTTPError`, and `ConnectionError` for a lost one."""
    timeout = httpx.Timeout(connection.seconds, connect=min(CONNECT_SECONDS, connection.seconds))
    key = {"Authorization": f"Bearer {connection.key}"} if connection.key else {}
    url = connection.base.rstrip("/") + path
    try:
        async with client.stream("POST", url, json=body, headers=key, timeout=timeout) as response:
            if response.status_code != httpx.codes.OK:
                raise RefusedError(_text_of(await response.aread()), response.status_code, response)
            yield response
    except (httpx.TimeoutException, httpx.ConnectError):
        raise
    except httpx.TransportError as error:
        raise ConnectionError(str(error) or "the connection was closed") from error


def read_piece(data: str, response: httpx.Response) -> Fields:
    """Reads an object of a stream. Raises `RefusedError` for an error in it, `ConnectionError` for no JSON."""
    try:
        piece = json.loads(data, object_hook=Fields)
    except ValueError as error:
        raise ConnectionError(f"the answer is not JSON: {data[:80]}") from error
    if not isinstance(piece, Fields) or (refusal := piece.error):
        code = refusal.code if isinstance(piece, Fields) and isinstance(refusal, Fields) else None
        raise RefusedError(_text_of(data.encode()), code if isinstance(code, int) else 500, response)
    return piece


def _text_of(body: bytes) -> str:
    text = body.decode("utf-8", "replace")
    try:
        return json.dumps(json.loads(text), ensure_ascii=False)
    except ValueError:
        return text
