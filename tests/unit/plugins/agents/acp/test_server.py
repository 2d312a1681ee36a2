"""Sessions of the agent: which folders they may name, and one prompt at a time."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

import acp
import pytest

from greenloop.plugins.agents.acp.server import GreenloopAgent


class Listener:
    def __init__(self) -> None:
        self.updates: list[Any] = []

    async def session_update(self, _session: str, update: Any) -> None:
        self.updates.append(update)


class FakeTurn:
    """A turn that ends when it is told to, or with an error."""

    started: ClassVar[list[FakeTurn]] = []
    error: ClassVar[Exception | None] = None

    def __init__(self, **fields: Any) -> None:
        self.end = asyncio.Event()
        FakeTurn.started.append(self)

    async def run(self, _blocks: Any) -> str:
        if FakeTurn.error is not None:
            raise FakeTurn.error
        await self.end.wait()
        return "end_turn"


@pytest.fixture
def agent():
    FakeTurn.started, FakeTurn.error = [], None
    agent = GreenloopAgent(make_turn=FakeTurn)
    listener: Any = Listener()
    agent.on_connect(listener)
    agent.listener = listener  # type: ignore[attr-defined]
    return agent


async def test_the_greeting_names_version_and_abilities(agent):
    greeting = await agent.initialize(protocol_version=99)
    assert greeting.protocol_version == acp.PROTOCOL_VERSION
    assert greeting.agent_capabilities.load_session is False
    assert greeting.agent_capabilities.prompt_capabilities.embedded_context is True


async def test_a_session_tells_its_commands(agent, tmp_path):
    await agent.new_session(cwd=str(tmp_path))
    await asyncio.sleep(0)
    (update,) = agent.listener.updates
    assert [command.name for command in update.available_commands] == ["fix", "improve"]


@pytest.mark.parametrize("cwd", ["relative", "", "/", "/nowhere/at/all", "/nul\0l"])
async def test_a_folder_that_is_no_project_is_refused(agent, cwd):
    with pytest.raises(acp.RequestError) as refused:
        await agent.new_session(cwd=cwd)
    assert refused.value.code == -32602
    assert refused.value.data["details"]


async def test_roots_bound_the_sessions(agent, tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "a" / "link").symlink_to(tmp_path / "b")
    agent.roots = (tmp_path / "a",)
    assert await agent.new_session(cwd=str(tmp_path / "a"))
    for cwd in (tmp_path / "b", tmp_path, tmp_path / "a" / "link", tmp_path / "a" / ".." / "b"):
        with pytest.raises(acp.RequestError) as refused:
            await agent.new_session(cwd=str(cwd))
        assert "outside the folders" in refused.value.data["details"]


async def test_a_second_prompt_is_refused_while_the_first_runs(agent, tmp_path):
    session = (await agent.new_session(cwd=str(tmp_path))).session_id
    other = (await agent.new_session(cwd=str(tmp_path))).session_id
    first = asyncio.create_task(agent.prompt([], session))
    second = asyncio.create_task(agent.prompt([], other))
    await asyncio.sleep(0)
    with pytest.raises(acp.RequestError) as refused:
        await agent.prompt([], session)
    assert "earlier prompt" in refused.value.data["details"]
    await asyncio.sleep(0)
    for turn in FakeTurn.started:
        turn.end.set()
    assert [(await each).stop_reason for each in (first, second)] == ["end_turn"] * 2


async def test_a_cancelled_prompt_says_so_and_the_next_one_runs(agent, tmp_path):
    session = (await agent.new_session(cwd=str(tmp_path))).session_id
    await agent.cancel(session)
    await agent.cancel("nowhere")
    running = asyncio.create_task(agent.prompt([], session))
    await asyncio.sleep(0)
    await agent.cancel(session)
    assert (await running).stop_reason == "cancelled"
    running = asyncio.create_task(agent.prompt([], session))
    await asyncio.sleep(0)
    FakeTurn.started[-1].end.set()
    assert (await running).stop_reason == "end_turn"


async def test_an_unexpected_error_is_told_without_its_words(agent, tmp_path, caplog):
    session = (await agent.new_session(cwd=str(tmp_path))).session_id
    FakeTurn.error = KeyError("the user's code")
    with pytest.raises(acp.RequestError) as failed:
        await agent.prompt([], session)
    assert failed.value.data == {"details": "Internal error (KeyError)."}
    assert "the user's code" not in caplog.text


async def test_the_end_of_the_client_cancels_what_runs(agent, tmp_path):
    session = (await agent.new_session(cwd=str(tmp_path))).session_id
    running = asyncio.create_task(agent.prompt([], session))
    await asyncio.sleep(0)
    await asyncio.wait_for(agent.close(), 5)
    assert (await running).stop_reason == "cancelled"
