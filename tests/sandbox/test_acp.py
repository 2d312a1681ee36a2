"""Editors that speak the Agent Client Protocol, by the client of its official library, against the real agent."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import acp
import psutil
import pytest
from acp.schema import (
    AllowedOutcome,
    ClientCapabilities,
    DeniedOutcome,
    FileSystemCapabilities,
    ReadTextFileResponse,
    RequestPermissionResponse,
    WriteTextFileResponse,
)

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(180)]

WRONG = "def double(x):\n    return x + 1\n\n\ndef one():\n    return 1\n"
RIGHT = WRONG.replace("x + 1", "x * 2")
TEST = "from m import double, one\n\n\ndef test_double():\n    assert double(5) == 10\n\n\ndef test_one():\n    assert one() == 1\n"
SLOW = "import subprocess\n\n\ndef test_slow():\n    subprocess.run(['sleep', '4321'])\n    assert False\n"
ANSWERS = ["```python\ndef double(x):\n    return x + 2\n```", "```python\ndef double(x):\n    return x * 2\n```"]
DOUBLE = "test_m.py::test_double"
SERVER = Path(__file__).parents[2] / "server"


class Editor:
    """An editor: its user's answer, what it showed, and the texts of its buffers by path."""

    def __init__(self, answer: str = "apply") -> None:
        self.answer, self.agent = answer, None
        self.updates: list[Any] = []
        self.asked: list[Any] = []
        self.buffers: dict[str, str] = {}
        self.written: dict[str, str] = {}
        self.shown = asyncio.Event()

    def on_connect(self, agent: Any) -> None:
        self.agent = agent

    async def session_update(self, session_id: str, update: Any, **_more: Any) -> None:
        self.updates.append(update)
        self.shown.set()

    async def request_permission(self, session_id: str, tool_call: Any, options: Any, **_more: Any) -> Any:
        self.asked.append(tool_call)
        if self.answer == "never":
            self.shown.set()
            await asyncio.Event().wait()
        if self.answer == "cancel":
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=self.answer))

    async def read_text_file(self, session_id: str, path: str, **_more: Any) -> ReadTextFileResponse:
        return ReadTextFileResponse(content=self.buffers.get(path) or Path(path).read_text())

    async def write_text_file(self, session_id: str, path: str, content: str, **_more: Any) -> WriteTextFileResponse:
        self.written[path] = content
        self.buffers[path] = content
        return WriteTextFileResponse()

    @property
    def said(self) -> str:
        return "".join(each.content.text for each in self.updates if each.session_update == "agent_message_chunk")

    @property
    def diffs(self) -> list[Any]:
        calls = [each for each in self.updates if each.session_update == "tool_call" and each.kind == "edit"]
        return [content for call in calls for content in call.content]

    async def wait_until(self, condition: Any) -> None:
        while not condition():
            self.shown.clear()
            await asyncio.wait_for(self.shown.wait(), 60)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "m.py").write_text(WRONG)
    (root / "test_m.py").write_text(TEST)
    (root / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "answers").write_text("".join(json.dumps(answer) + "\n" for answer in ANSWERS))
    return root


def command(root: Path, *more: str) -> tuple[list[str], dict[str, str]]:
    words = [sys.executable, "-m", "greenloop", "acp", "--root", str(root), "--sandbox", "bubblewrap"]
    words += [
        "--set",
        f"interpreter={os.environ['GREENLOOP_INTERPRETER']}",
        "--model",
        f"scripted:{root.parent / 'answers'}",
    ]
    words += ["--set", "preset=plain", *more]
    home = root.parent / "home"
    home.mkdir(exist_ok=True)
    state = {"HOME": str(home), "XDG_STATE_HOME": str(home / "state")}
    return words, {"PATH": os.environ["PATH"], "PYTHONPATH": str(SERVER), **state}


@asynccontextmanager
async def connect(root: Path, editor: Editor, *more: str, files: bool = False) -> AsyncIterator[tuple[Any, Any, str]]:
    """The connection to a new agent, its process, and a session in the project."""
    words, env = command(root, *more)
    limits = {"shutdown_timeout": 20.0}
    async with acp.spawn_agent_process(editor, *words, env=env, cwd=root.parent, transport_kwargs=limits) as (
        agent,
        process,
    ):
        able = ClientCapabilities(fs=FileSystemCapabilities(read_text_file=files, write_text_file=files))
        greeting = await agent.initialize(protocol_version=acp.PROTOCOL_VERSION, client_capabilities=able)
        assert greeting.agent_info.name == "greenloop"
        session = await agent.new_session(cwd=str(root), mcp_servers=[])
        yield agent, process, session.session_id


def running(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Those that still run; one that has ended may wait for a parent that never asks."""
    return [each for each in processes if each.is_running() and each.status() != psutil.STATUS_ZOMBIE]


async def ask(agent: Any, session: str, text: str) -> str:
    reply = await agent.prompt(session_id=session, prompt=[acp.text_block(text)])
    stop: str = reply.stop_reason
    return stop


@pytest.mark.story("an editor's agent shows its attempts, and writes only what you permit")
async def test_a_permitted_change_is_written(project):
    editor = Editor()
    async with connect(project, editor) as (agent, _process, session):
        assert await ask(agent, session, f"fix {DOUBLE}") == "end_turn"
        await editor.wait_until(lambda: "Applied." in editor.said)
    assert (project / "m.py").read_text() == RIGHT
    assert editor.updates[0].session_update == "available_commands_update"
    assert "attempt 1" in editor.said
    assert "attempt 2: passed" in editor.said
    assert "Verified in bubblewrap" in editor.said
    (diff,) = editor.diffs
    assert (diff.path, diff.old_text, diff.new_text) == (str(project / "m.py"), WRONG, RIGHT)
    assert len(editor.asked) == 1


async def test_the_looks_of_a_capable_model_are_calls_of_tools(project):
    edit = "m.py\n<<<<<<< SEARCH\n    return str(x)\n=======\n    return 2 * int(x)\n>>>>>>> REPLACE\n"
    rows = [{"calls": [["read", {"path": "test_m.py"}], ["run", {"tests": [DOUBLE]}]], "text": ""}, edit]
    (project / "m.py").write_text(WRONG.replace("x + 1", "str(x)"))
    (project.parent / "answers").write_text("".join(json.dumps(row) + "\n" for row in rows))
    editor = Editor()
    capable = ("--set", "preset=default", "--set", "model.kind=capable")
    async with connect(project, editor, *capable) as (agent, _process, session):
        assert await ask(agent, session, f"fix {DOUBLE}") == "end_turn"
        await editor.wait_until(lambda: "Applied." in editor.said)
    calls = [each for each in editor.updates if each.session_update == "tool_call"]
    told = [(each.kind, each.title, each.status) for each in calls]
    assert told[0][:2] == ("execute", f"Refine {DOUBLE}")
    assert told[1:3] == [
        ("read", "read test_m.py", "completed"),
        ("execute", f"run {DOUBLE}: 0 passed, 1 failed of 1.", "completed"),
    ]
    assert calls[1].content[0].content.text.startswith("test_m.py, lines 1-9 of 9:\nfrom m import double, one\n")
    assert [place.path for place in calls[1].locations] == [str(project / "test_m.py")]


@pytest.mark.parametrize("answer", ["reject", "cancel"])
async def test_a_rejected_change_is_not_written(project, answer):
    editor = Editor(answer)
    async with connect(project, editor) as (agent, _process, session):
        assert await ask(agent, session, f"fix {DOUBLE}") == "end_turn"
        await editor.wait_until(lambda: "Nothing was written" in editor.said)
    assert (project / "m.py").read_text() == WRONG


async def test_an_editor_that_writes_files_itself_gets_the_text_merged_with_what_it_has(project):
    editor = Editor()
    typed = WRONG + "\n\nTYPED = 1\n"
    editor.buffers[str(project / "m.py")] = typed
    async with connect(project, editor, files=True) as (agent, _process, session):
        assert await ask(agent, session, f"fix {DOUBLE}") == "end_turn"
        await editor.wait_until(lambda: "Applied." in editor.said)
    assert editor.written == {str(project / "m.py"): typed.replace("x + 1", "x * 2")}
    assert "verified again" in editor.said
    assert (project / "m.py").read_text() == WRONG


async def test_all_failing_tests_are_a_plan(project):
    (project / "test_n.py").write_text("from m import double\n\n\ndef test_n():\n    assert double(3) == 6\n")
    editor = Editor()
    async with connect(project, editor) as (agent, _process, session):
        assert await ask(agent, session, "fix the failing tests") == "end_turn"
        plans = [each for each in editor.updates if each.session_update == "plan"]
    assert [entry.status for entry in plans[-1].entries] == ["completed", "completed"]
    assert (project / "m.py").read_text() == RIGHT


async def test_a_cancelled_prompt_leaves_no_process_behind(project):
    (project / "test_slow.py").write_text(SLOW)
    editor = Editor()
    async with connect(project, editor) as (agent, process, session):
        asked = asyncio.create_task(ask(agent, session, "fix test_slow.py::test_slow"))
        tree = psutil.Process(process.pid)

        def sleeping() -> bool:
            found = []
            for each in tree.children(recursive=True):
                try:
                    found.append("4321" in each.cmdline())
                except psutil.Error:
                    continue
            return any(found)

        await editor.wait_until(sleeping)
        with pytest.raises(acp.RequestError, match="Invalid request"):
            await ask(agent, session, f"fix {DOUBLE}")
        await agent.cancel(session_id=session)
        assert await asyncio.wait_for(asked, 20) == "cancelled"
        assert not sleeping()
        assert await ask(agent, session, "hello") == "end_turn"
        await editor.wait_until(lambda: "Name a failing test" in editor.said)
        left = tree.children(recursive=True)
    assert process.returncode == 0
    assert not running(left)
    assert (project / "m.py").read_text() == WRONG


async def test_a_client_that_disappears_ends_the_agent(project):
    editor = Editor("never")
    async with connect(project, editor) as (agent, process, session):
        asked = asyncio.create_task(ask(agent, session, f"fix {DOUBLE}"))
        await editor.wait_until(lambda: editor.asked)
        left = psutil.Process(process.pid).children(recursive=True)
        process.stdin.close()
        assert await asyncio.wait_for(process.wait(), 30) == 0
        asked.cancel()
        await asyncio.gather(asked, return_exceptions=True)
    assert not running(left)
    assert (project / "m.py").read_text() == WRONG


async def test_a_signal_ends_the_agent_without_a_word(project):
    words, env = command(project)
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*words, env=env, stdin=pipe, stdout=pipe, stderr=pipe)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}}\n')
    assert b"agentCapabilities" in await process.stdout.readline()
    process.terminate()
    assert await asyncio.wait_for(process.wait(), 30) == 0
    assert process.stderr is not None
    assert (await process.stdout.read(), await process.stderr.read()) == (b"", b"")


async def test_a_folder_outside_the_roots_and_an_unknown_session_are_refused(project, tmp_path):
    async with connect(project, Editor()) as (agent, _process, session):
        for cwd in ("/", str(tmp_path), "relative", str(project / "m.py"), "/nul\0l"):
            with pytest.raises(acp.RequestError, match="Invalid params") as refused:
                await agent.new_session(cwd=cwd, mcp_servers=[])
            assert refused.value.data["details"]
        with pytest.raises(acp.RequestError, match="Invalid params") as refused:
            await ask(agent, "nowhere", "fix the failing tests")
        assert refused.value.data["details"] == "There is no session 'nowhere'. Open one with session/new."
        assert await ask(agent, session, "fix ../secret.py::f") == "end_turn"


async def test_malformed_bytes_are_answered_and_do_no_harm(project):
    words, env = command(project)
    lines: list[Any] = [
        b"\xff\xfe not json",
        b"[" * 100_000,
        b"[1]",
        b"3",
        b'{"jsonrpc": "2.0", "id": {}, "method": "initialize"}',
        b'{"jsonrpc": "2.0", "id": {}, "result": {}}',
        b'{"jsonrpc": "2.0", "id": 7, "error": "what"}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "session/prompt", "params": {"prompt": 3}}',
        b'{"jsonrpc": "2.0", "id": 2, "method": "no/such"}',
        b'{"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "nowhere"}}',
        b'{"jsonrpc": "2.0", "id": 3, "method": "initialize", "params": {"protocolVersion": 1}}',
    ]
    process = await asyncio.create_subprocess_exec(
        *words, env=env, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await asyncio.wait_for(process.communicate(b"\n".join(lines) + b"\n"), 60)
    replies = [json.loads(line) for line in out.splitlines()]
    refused = [(each["id"], each["error"]["code"]) for each in replies if "error" in each]
    assert sorted(refused, key=str) == sorted(
        [(None, -32700)] * 2 + [(None, -32600)] * 3 + [(1, -32602), (2, -32601)], key=str
    )
    (greeted,) = [each for each in replies if "result" in each]
    assert (greeted["id"], greeted["result"]["protocolVersion"]) == (3, 1)
    assert process.returncode == 0
