"""The server: its tools and resources, on standard input and output or on the loopback."""

from __future__ import annotations

import hmac
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.mcpserver.tools import Tool
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPDeprecationWarning
from mcp.shared.message import SessionMessage
from mcp_types import ToolAnnotations
from pydantic import ValidationError

from greenloop import __version__
from greenloop.plugins.agents.mcp.malformed import describe_arguments, forward_messages
from greenloop.plugins.agents.mcp.resources import add_resources
from greenloop.plugins.agents.mcp.tools.doctor import doctor
from greenloop.plugins.agents.mcp.tools.explain import explain
from greenloop.plugins.agents.mcp.tools.history import history
from greenloop.plugins.agents.mcp.tools.refine import refine
from greenloop.plugins.agents.mcp.tools.report_impossible import report_impossible
from greenloop.plugins.agents.mcp.tools.run_tests import run_tests
from greenloop.plugins.agents.mcp.tools.verify import verify
from greenloop.plugins.agents.service import Service

LOOPBACK = "127.0.0.1"
INSTRUCTIONS = """\
Tests decide, not opinions. Before you say that tests pass, call `verify`: only "verified": true counts, and what fakes
a pass is named. For a red test, `explain` shows where to look, and `refine` finds and verifies a change. A test that no
honest change can pass: `report_impossible`. Nothing is written unless you pass apply=true."""

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Callable[[], Awaitable[Any]], Send], Awaitable[None]]


class McpServer(MCPServer[Service]):
    """Tells errors in one sentence, and answers every malformed message."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Service, Any] | None = None
    ) -> Any:
        try:
            return await super().call_tool(name, arguments, context)
        except UnexpectedToolError as error:
            raise UnexpectedToolError(f"greenloop failed in {name}; the server's log has the error.") from error
        except ToolError as error:
            cause = error.__cause__
            if isinstance(cause, ValidationError):
                known = next(tool for tool in await self.list_tools() if tool.name == name).input_schema["properties"]
                raise ToolError(describe_arguments(name, known, cause)) from cause
            raise ToolError(str(cause or error)) from cause

    async def run_stdio_async(self) -> None:
        forward, messages = anyio.create_memory_object_stream[SessionMessage | Exception]()
        options = self._lowlevel_server.create_initialization_options()
        try:
            async with stdio_server() as (received, answers), anyio.create_task_group() as group:
                group.start_soon(forward_messages, received, forward, answers.send)
                await self._lowlevel_server.run(messages, answers, options)
                group.cancel_scope.cancel()
        except* BrokenPipeError:
            pass  # the client is gone


def build_server(service: Service) -> McpServer:
    """Returns a server with all tools; the sandboxes that it opens are closed at its end."""

    @asynccontextmanager
    async def live(_server: MCPServer[Service]) -> AsyncIterator[Service]:
        try:
            yield service
        finally:
            with anyio.CancelScope(shield=True):  # also where the client is gone and all is being cancelled
                await service.pool.close()

    # Sampling and elicitation: clients of older protocols have them still.
    warnings.filterwarnings("ignore", category=MCPDeprecationWarning)
    reading = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    tools = [_make_tool(tool, reading) for tool in (verify, run_tests, explain, report_impossible, history, doctor)]
    tools.append(_make_tool(refine, ToolAnnotations(read_only_hint=False, destructive_hint=False)))
    server = McpServer(
        "greenloop", instructions=INSTRUCTIONS, version=__version__, lifespan=live, log_level="WARNING", tools=tools
    )
    add_resources(server)
    return server


def _make_tool(function: Callable[..., Any], annotations: ToolAnnotations) -> Tool:
    """A tool that refuses arguments which it does not have: otherwise a misspelt one would be left out silently."""
    tool = Tool.from_function(function, annotations=annotations)
    model = tool.fn_metadata.arg_model
    model.model_config["extra"] = "forbid"
    model.model_rebuild(force=True)
    tool.parameters = model.model_json_schema(by_alias=True)
    return tool


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
