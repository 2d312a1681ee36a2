"""Malformed requests over standard input: each gets one clear error, and the next one its answer."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from agent_calls import DOUBLE
from mcp_project import connect, parameters, project, refuse

__all__ = ["project"]
pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(180)]

INFO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
GREETING = {"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": INFO}


class Wire:
    """The server's standard input and output, line by line."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.process, self.source, self.sink = process, process.stdout, process.stdin

    async def ask(self, line: bytes) -> Any:
        self.sink.write(line + b"\n")
        return json.loads(await asyncio.wait_for(self.source.readline(), 60))


@asynccontextmanager
async def start(root: Path) -> AsyncIterator[Wire]:
    given = parameters(root)
    server = await asyncio.create_subprocess_exec(
        given.command, *given.args, env=given.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    wire = Wire(server)
    try:
        assert (await wire.ask(json.dumps(GREETING).encode()))["id"] == "hello"
        wire.sink.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
        yield wire
    finally:
        if server.returncode is None:
            server.kill()
        await server.wait()


@pytest.mark.story("a malformed request of an agent gets one clear error")
async def test_every_line_that_is_no_request_gets_one_answer(project):
    async with start(project) as wire:
        for line, number, code in (
            (b"garbage", None, -32700),
            (b'{"jsonrpc": "2.0", "id": 2', None, -32700),
            (b"\xff\xfe", None, -32700),
            (b"[]", None, -32600),
            (b"7", None, -32600),
            (b'{"id": 3}', 3, -32600),
            (b'{"jsonrpc": "2.0", "id": 4, "method": 7}', 4, -32600),
            (b'{"jsonrpc": "1.0", "id": "five", "method": "tools/list"}', "five", -32600),
            (b'{"jsonrpc": "2.0", "id": 6, "method": "tools/list", "params": []}', 6, -32600),
            (b'{"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": {"x": "\\ud800"}}', 7, -32700),
            (b'{"jsonrpc": "2.0", "id": 8, "method": "nothing/here"}', 8, -32601),
            (b'{"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {}}', 9, -32602),
        ):
            answer = await wire.ask(line)
            assert (answer["id"], answer["error"]["code"]) == (number, code), line
            assert answer["error"]["message"]
        # What is no request has no answer: an empty line, and an answer to nothing.
        wire.sink.write(b'\n{"jsonrpc": "2.0", "id": 10, "result": 7}\n{"jsonrpc": "2.0", "id": 11, "error": 7}\n')
        assert await wire.ask(b'{"jsonrpc": "2.0", "id": 12, "method": "ping"}') == {
            "jsonrpc": "2.0",
            "id": 12,
            "result": {},
        }


async def test_wrong_arguments_are_named_in_one_sentence(project):
    async with connect(project) as client:
        for tool, arguments, sentence in (
            ("run_tests", {"selector": [DOUBLE]}, "there is no selector (but selectors, seconds, root)"),
            ("history", {"limit": "many"}, "limit: input should be a valid integer"),
            ("history", {"run": 10**30}, f"There is no run {10**30} in the history."),
            ("run_tests", {"selectors": ["a\0b"]}, "selectors.0: a null character is in no path"),
            ("run_tests", {"seconds": 1e300}, "seconds: input should be less than or equal to 86400"),
            ("explain", {"target": "x" * 5000}, "target: no path, test or name has more than 4096 characters"),
            ("explain", {}, "target: field required"),
            ("nothing", {}, "Unknown tool: nothing"),
        ):
            told = await refuse(client, tool, **arguments)
            assert sentence in told
            assert "\n" not in told
            assert not told.startswith("Error executing")


async def test_a_resource_that_does_not_exist_is_told(project):
    async with connect(project) as client:
        for address, sentence in (
            ("greenloop://run/7", "There is no run 7"),
            ("greenloop://run/x/page", "x is not the number of a run"),
            (f"greenloop://run/{10**30}/attempt/1", f"There is no run {10**30}"),
        ):
            with pytest.raises(Exception, match=sentence):
                await client.read_resource(address)


async def test_a_client_that_disappears_ends_the_server(project):
    async with start(project) as wire:
        wire.sink.close()
        assert await asyncio.wait_for(wire.process.wait(), 60) == 0


async def test_a_client_that_disappears_in_a_call_ends_the_run(project):
    (project / "test_hang.py").write_text("def test_hangs():\n    while True:\n        pass\n")
    arguments = {"name": "run_tests", "arguments": {"selectors": ["test_hang.py"], "seconds": 600}}
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": arguments}
    async with start(project) as wire:
        wire.sink.write(json.dumps(request).encode() + b"\n")
        server = psutil.Process(wire.process.pid)
        while not (inside := server.children(recursive=True)):
            await asyncio.sleep(0.05)
        wire.sink.close()
        wire.source._transport.close()  # both ends of the pipes are gone, as after a kill
        assert await asyncio.wait_for(wire.process.wait(), 60) == 0
    assert not psutil.wait_procs(inside, timeout=30)[1]
