from __future__ import annotations

import httpx
import pytest

from greenloop.models.chat.completions import Connection


@pytest.fixture
def serve():
    """`serve(body, status)`: a client of a server that answers everything so, and the requests that it got."""

    def answer(body, status=200):
        requests = []

        def handle(request):
            requests.append(request)
            return httpx.Response(status, content=body.encode())

        return httpx.AsyncClient(transport=httpx.MockTransport(handle)), requests

    return answer


@pytest.fixture
def connection():
    return Connection(base="http://127.0.0.1:1/v1/", key="k", seconds=5.0)
