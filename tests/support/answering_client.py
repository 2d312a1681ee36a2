"""A client of a server that answers everything alike, for tests of streams."""

from __future__ import annotations

import httpx

from greenloop.models.chat.completions import Connection

CONNECTION = Connection(base="http://127.0.0.1:1/v1/", key="k", seconds=5.0)


def serve(body: str, status: int = 200) -> tuple[httpx.AsyncClient, list[httpx.Request]]:
    """The client, and the requests that it got."""
    requests: list[httpx.Request] = []

    def handle(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(status, content=body.encode())

    return httpx.AsyncClient(transport=httpx.MockTransport(handle)), requests
