from __future__ import annotations

import httpx
import pytest

from greenloop.models.chat.completions import Connection


@pytest.fixture
def serve(monkeypatch):
    """`serve(body, status)`: what every server answers; returns the requests that it got."""
    real = httpx.AsyncClient

    def answer(body, status=200):
        requests = []

        def handle(request):
            requests.append(request)
            return httpx.Response(status, content=body.encode())

        monkeypatch.setattr(httpx, "AsyncClient", lambda **_more: real(transport=httpx.MockTransport(handle)))
        return requests

    return answer


@pytest.fixture
def connection():
    return Connection(base="http://127.0.0.1:1/v1/", key="k", seconds=5.0)
