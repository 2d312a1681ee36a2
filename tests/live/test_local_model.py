"""The embedded model for real: its server's life, its answers, and the same server reached as any OpenAI-compatible one."""

import asyncio
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace

import httpx
import psutil
import pytest

from greenloop.core.errors import ContextTooLongError
from greenloop.core.records.model import ChatRequest, InfillRequest, Message
from greenloop.plugins.embedded import lock, server
from greenloop.plugins.embedded.providers import local
from greenloop.plugins.embedded.settings import EmbeddedSettings
from greenloop.plugins.remote_models.providers import remote
from greenloop.project.settings import ApiSettings, Settings

pytestmark = [pytest.mark.needs("model"), pytest.mark.timeout(300)]

SETTINGS = Settings(plugins=(EmbeddedSettings(context=1024, idle=120),))
SECRET = "zanzibarquux"
ASK = ChatRequest(
    messages=(
        Message(role="system", content=f"Answer with Python code only, no explanation. The user is {SECRET}."),
        Message(role="user", content="Write the function double(n), which returns twice n."),
    ),
    max_tokens=40,
)
LONG = replace(
    ASK, messages=(Message(role="user", content="Count from 1 to 1000, one number a line."),), max_tokens=900
)


@pytest.fixture
async def running():
    return await server.start(SETTINGS)


@pytest.mark.story("the embedded model runs in a process of its own")
async def test_it_answers_with_code_and_counts(running):
    model, pieces = local.create("local", SETTINGS), []
    reply = await model.complete(ASK, pieces.append)
    assert "def double" in reply.text
    assert "".join(pieces) == reply.text
    assert len(pieces) > 5
    assert reply.usage.prompt_tokens > 20
    assert 5 < reply.usage.completion_tokens <= 40
    assert reply.usage.cost == 0
    assert reply.usage.model_seconds > 0


async def test_a_bounded_answer_says_that_it_was_cut(running):
    reply = await local.create("local", SETTINGS).complete(replace(LONG, max_tokens=8), str)
    assert reply.finish == "length"
    assert reply.usage.completion_tokens == 8


async def test_it_fills_a_hole_and_does_not_read_the_same_twice(running):
    model, pieces = local.create("local", SETTINGS), []
    hole = InfillRequest(
        prefix='def larger(a, b):\n    """Returns the larger one of two numbers."""\n    if a > b:\n',
        suffix="\n    return b\n",
        stop=("\n",),
    )
    first = await model.infill(hole, pieces.append)
    assert first.text.strip() == "return a"
    assert "".join(pieces) == first.text
    second = await model.infill(hole, str)
    assert second.usage.prompt_tokens == first.usage.prompt_tokens > 20
    assert second.usage.cached_tokens == second.usage.prompt_tokens - 1


async def test_files_are_the_users_alone_and_no_prompt_is_logged(running):
    await local.create("local", SETTINGS).complete(replace(ASK, max_tokens=4), str)
    for path in (server.state_file(), server.log_file(), server.lock_file()):
        assert path.stat().st_mode & 0o777 == 0o600
    log = server.log_file().read_text(errors="replace")
    assert "listening" in log
    assert SECRET not in log
    assert running.key not in log
    assert running.key not in " ".join(psutil.Process(running.pid).cmdline())


async def test_nobody_gets_an_answer_without_the_key(running):
    async with httpx.AsyncClient(trust_env=False) as client:
        for headers in ({}, {"Authorization": "Bearer wrong"}):
            response = await client.post(f"{running.base}/chat/completions", json={"messages": []}, headers=headers)
            assert response.status_code == 401
    assert {c.laddr.ip for c in psutil.Process(running.pid).net_connections() if c.status == "LISTEN"} == {"127.0.0.1"}


async def test_it_is_shared_with_other_processes(running):
    code = (
        "import asyncio; from greenloop.plugins.embedded import server; from greenloop.plugins.embedded.settings import *; from greenloop.project.settings import *;"
        "print(asyncio.run(server.start(Settings(plugins=(EmbeddedSettings(context=1024),)))).pid)"
    )
    others = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=subprocess.PIPE) for _ in range(2)
    ]
    answers = [int((await other.communicate())[0]) for other in others]
    assert answers == [running.pid, running.pid]
    assert os.getsid(running.pid) == running.pid, "the terminal's Ctrl-C and hang-up do not reach it"


async def test_any_client_reaches_it_as_an_openai_compatible_server(running, monkeypatch):
    monkeypatch.setenv("EMBEDDED_KEY", running.key)
    model = remote.create("openai/local", Settings(api=ApiSettings(base=running.base, key="EMBEDDED_KEY")))
    pieces = []
    reply = await model.complete(ASK, pieces.append)
    assert "def double" in reply.text == "".join(pieces)
    assert reply.usage.prompt_tokens > 20
    too_long = replace(ASK, messages=(Message(role="user", content="word " * 2000),))
    with pytest.raises(ContextTooLongError):
        await model.complete(too_long, str)
    await model.close()


async def test_a_prompt_that_does_not_fit_is_told(running):
    too_long = replace(ASK, messages=(Message(role="user", content="word " * 2000),))
    with pytest.raises(ContextTooLongError, match="context of 1024 tokens"):
        await local.create("local", SETTINGS).complete(too_long, str)


async def written(running):
    """Tokens that the server has written since its start."""
    async with httpx.AsyncClient(trust_env=False, headers={"Authorization": f"Bearer {running.key}"}) as client:
        metrics = (await client.get(f"http://127.0.0.1:{running.port}/metrics")).text
    return float(re.search(r"^llamacpp:tokens_predicted_total (\S+)$", metrics, re.MULTILINE)[1])


async def test_cancelling_makes_the_server_stop_writing(running):
    model, before = local.create("local", SETTINGS), await written(running)
    task = asyncio.create_task(model.complete(LONG, lambda _: task.cancel()))
    with pytest.raises(asyncio.CancelledError):
        await task
    # There is one slot: this one is answered when the cancelled one has ended.
    await model.complete(replace(ASK, max_tokens=2), str)
    assert await written(running) - before < 100, "900 were asked for"


async def test_a_server_that_is_killed_in_mid_answer_comes_back(running):
    model, pieces = local.create("local", SETTINGS), []

    def kill_once(piece):
        pieces.append(piece)
        if len(pieces) == 3:
            os.kill(running.pid, signal.SIGKILL)

    reply = await model.complete(ASK, kill_once)
    assert "def double" in reply.text
    successor = server.status()
    assert successor is not None
    assert successor.pid != running.pid
    assert not psutil.pid_exists(running.pid), "no zombie is left"


async def test_a_larger_context_needs_another_server(running):
    larger = await server.start(replace(SETTINGS, plugins=(EmbeddedSettings(context=2048, idle=120),)))
    assert larger.pid != running.pid
    assert larger.context == 2048
    assert (await server.start(SETTINGS)).pid == larger.pid, "a smaller one is in it"


async def test_it_ends_when_it_is_told(running):
    assert await server.stop() is True
    assert server.status() is None
    assert not server.state_file().exists()
    assert await server.stop() is False


async def test_it_ends_by_itself_when_idle(running):
    await server.stop()
    # Less than a user may set, so that the test is short.
    short = await server.start(replace(SETTINGS, plugins=(EmbeddedSettings(context=1024, idle=1),)))
    await asyncio.to_thread(psutil.Process(short.pid).wait, 20)
    assert server.status() is None
    assert not lock.held(server.lock_file())
    assert not server.state_file().exists()
