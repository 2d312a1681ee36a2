"""`greenloop mcp --http`: who may connect, and several clients at once."""

from __future__ import annotations

import asyncio
import socket
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import httpx2
import psutil
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from agent_calls import DOUBLE
from mcp_project import call, parameters, project, refuse, variables

__all__ = ["project"]
pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(180)]


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


GREETING = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}


def headers(token: str) -> dict[str, str]:
    accepted = {"Accept": "application/json, text/event-stream"}
    return accepted | ({"Authorization": f"Bearer {token}"} if token else {})


async def greet(port: int, token: str) -> int:
    """The status of the answer to the first message of a client with this token; waits until the port is open."""
    async with httpx.AsyncClient() as web:
        while True:
            try:
                address = f"http://127.0.0.1:{port}/mcp"
                return (await web.post(address, json=GREETING, headers=headers(token))).status_code
            except httpx.ConnectError:
                await asyncio.sleep(0.1)


async def test_on_the_loopback_only_the_token_opens(project):
    given, port = parameters(project), free_port()
    env = {**variables(project), "GREENLOOP_MCP_TOKEN": "right"}
    server = await asyncio.create_subprocess_exec(given.command, *given.args, "--http", str(port), env=env)
    try:
        assert await greet(port, "wrong") == 401
        assert await greet(port, "") == 401
        assert await greet(port, "right") == 200
    finally:
        server.terminate()
        await server.wait()
    assert not [each for each in psutil.Process().children(recursive=True) if each.pid == server.pid]


async def test_the_token_is_printed_where_the_protocol_is_not(project):
    given, port = parameters(project), free_port()
    server = await asyncio.create_subprocess_exec(
        given.command, *given.args, "--http", str(port), env=given.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert server.stdout is not None
    assert server.stderr is not None
    try:
        line = (await server.stderr.readline()).decode()
        address, _, token = line.strip().partition(", Authorization: Bearer ")
        assert address == f"http://127.0.0.1:{port}/mcp"
        assert len(token) >= 32
        assert await greet(port, token[:-1]) == 401
        assert await greet(port, token) == 200
    finally:
        server.terminate()
    assert await server.stdout.read() == b""
    assert token.encode() not in await server.stderr.read()
    await server.wait()


@asynccontextmanager
async def serve(root: Path) -> AsyncIterator[tuple[int, psutil.Process]]:
    """A server for whoever has the token `right`: its port and process."""
    given, port = parameters(root), free_port()
    env = {**variables(root), "GREENLOOP_MCP_TOKEN": "right"}
    server = await asyncio.create_subprocess_exec(given.command, *given.args, "--http", str(port), env=env)
    try:
        assert await greet(port, "right") == 200
        yield port, psutil.Process(server.pid)
    finally:
        server.terminate()
        await server.wait()


@asynccontextmanager
async def connect(port: int) -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(headers={"Authorization": "Bearer right"}, timeout=120) as web,
        Client(streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=web)) as client,
    ):
        yield client


async def test_two_clients_at_once_get_their_own_answers(project):
    async with serve(project) as (port, _), connect(port) as one, connect(port) as other:
        ran, refused, told = await asyncio.gather(
            call(one, "run_tests", selectors=[DOUBLE]),
            refuse(other, "run_tests", selector=[DOUBLE]),
            call(other, "explain", target=DOUBLE),
        )
        assert [each["id"] for each in ran["failed"]] == [DOUBLE]
        assert "there is no selector" in refused
        assert told["suspects"][0]["name"] == "double"


async def test_a_client_that_disappears_leaves_the_server_to_the_others(project):
    (project / "test_hang.py").write_text("def test_hangs():\n    while True:\n        pass\n")
    arguments = {"name": "run_tests", "arguments": {"selectors": ["test_hang.py"], "seconds": 3}}
    request = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": arguments}
    async with serve(project) as (port, server):
        address = f"http://127.0.0.1:{port}/mcp"
        async with httpx.AsyncClient(headers=headers("right"), timeout=120) as web:
            session = (await web.post(address, json=GREETING)).headers["mcp-session-id"]
            running = asyncio.create_task(web.post(address, json=request, headers={"mcp-session-id": session}))
            while not server.children():
                await asyncio.sleep(0.05)
            running.cancel()  # closes the connection without a word
            await asyncio.gather(running, return_exceptions=True)
        async with connect(port) as other:
            assert (await call(other, "run_tests", selectors=["test_m.py"]))["passed"] == 1
        children = server.children(recursive=True)
    assert not psutil.wait_procs(children, timeout=30)[1]


async def test_a_malformed_body_gets_an_error(project):
    async with serve(project) as (port, _), httpx.AsyncClient() as web:
        for body in (b"", b"{", b"[]", b'{"jsonrpc": "2.0", "id": 1, "method": 7}', b"\xff"):
            kind = {**headers("right"), "Content-Type": "application/json"}
            answer = await web.post(f"http://127.0.0.1:{port}/mcp", content=body, headers=kind)
            assert answer.status_code == 400, (body, answer.text)
            assert answer.json()["error"]["message"]
        for host in ("evil.example", f"evil.example:{port}"):
            rebound = await web.post(
                f"http://127.0.0.1:{port}/mcp", json={}, headers={**headers("right"), "Host": host}
            )
            assert rebound.status_code in {403, 421}
