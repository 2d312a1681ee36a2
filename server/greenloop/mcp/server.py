"""The server: its tools and resources, on standard input and output or on the loopback."""

from __future__ import annotations

import hmac
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.shared.exceptions import MCPDeprecationWarning
from mcp_types import ToolAnnotations

from greenloop import __version__
from greenloop.mcp.resources import add_resources
from greenloop.mcp.tools.doctor import doctor
from greenloop.mcp.tools.explain_failure import explain_failure
from greenloop.mcp.tools.history import history
from greenloop.mcp.tools.refine import refine
from greenloop.mcp.tools.run_tests import run_tests
from greenloop.mcp.tools.verify import verify
from greenloop.serving.service import Service

LOOPBACK = "127.0.0.1"
INSTRUCTIONS = """\
Tests decide, not opinions. Before you say that tests pass, call `verify`: only "verified": true counts, and what fakes
a pass is named. For a red test, `explain_failure` tells where to look, and `refine` finds and verifies a change.
Nothing is written unless you pass apply=true."""

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Callable[[], Awaitable[Any]], Send], Awaitable[None]]


def build_server(service: Service) -> MCPServer[Service]:
    """Returns a server with all tools; the sandboxes that it opens are closed at its end."""

    @asynccontextmanager
    async def live(_server: MCPServer[Service]) -> AsyncIterator[Service]:
        try:
            yield service
        finally:
            await service.pool.close()

    # Sampling and elicitation: clients of older protocols have them still.
    warnings.filterwarnings("ignore", category=MCPDeprecationWarning)
    server = MCPServer("greenloop", instructions=INSTRUCTIONS, version=__version__, lifespan=live, log_level="WARNING")
    for tool in (verify, run_tests, explain_failure, history, doctor):
        server.add_tool(tool, annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False))
    server.add_tool(refine, annotations=ToolAnnotations(read_only_hint=False, destructive_hint=False))
    add_resources(server)
    return server


async def serve_http(service: Service, port: int, token: str) -> None:
    """Serves on the loopback, to callers who send `Authorization: Bearer TOKEN`."""
    app = _with_token(build_server(service).streamable_http_app(host=LOOPBACK), token)
    await uvicorn.Server(uvicorn.Config(app, host=LOOPBACK, port=port, log_level="warning")).serve()


def _with_token(app: App, token: str) -> App:
    expected = f"Bearer {token}".encode()

    async def guarded(scope: Scope, receive: Callable[[], Awaitable[Any]], send: Send) -> None:
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(given, expected):
                headers = [(b"content-type", b"text/plain"), (b"www-authenticate", b"Bearer")]
                await send({"type": "http.response.start", "status": 401, "headers": headers})
                await send({"type": "http.response.body", "body": b"The token is missing or wrong.\n"})
                return
        await app(scope, receive, send)

    return guarded
