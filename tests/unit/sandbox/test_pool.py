"""Sessions that outlive a request: who gets which, when they pause, when they go."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from greenloop_sandbox import Environment, SandboxPool, SandboxSpec


class Session:
    name = "double"

    def __init__(self):
        self.said = []
        self.warming, self.warmed = asyncio.Event(), asyncio.Event()
        self.paused = asyncio.Event()
        self.closed = asyncio.Event()

    async def warm(self):
        self.said.append("warm")
        self.warming.set()
        await self.warmed.wait()

    async def pause(self):
        self.said.append("pause")
        self.paused.set()

    async def close(self):
        self.said.append("close")
        self.closed.set()


class Sandbox:
    name = "double"

    async def open(self, place):
        return Session()


def place(root: str) -> SandboxSpec:
    python = Path("/usr/bin/python3")
    environment = Environment(
        executable=python, prefix=Path("/usr"), base=Path("/usr"), version=(3, 11), source="test", has_pytest=True
    )
    return SandboxSpec(root=Path(root), environment=environment)


async def test_the_next_request_gets_the_session_of_the_one_before():
    pool, sandbox = SandboxPool(), Sandbox()
    beside, first, third = [await pool.open(sandbox, place("/a")) for _ in range(3)]
    for session in (beside, first, third):
        await pool.release(session)
    assert (beside.said, first.said, third.said) == ([], [], ["close"])
    assert await pool.open(sandbox, place("/b")) not in (beside, first)
    assert await pool.open(sandbox, place("/a")) is first
    assert await pool.open(sandbox, place("/a")) is beside
    assert not await pool.warm(place("/a"))
    await pool.release(beside)
    await pool.release(first)
    await pool.close()
    assert (beside.said, first.said) == (["close"], ["close"])


async def test_an_idle_session_is_warmed_where_it_is_and_can_be_opened_meanwhile():
    pool, sandbox = SandboxPool(), Sandbox()
    session = await pool.open(sandbox, place("/a"))
    assert not await pool.warm(place("/a"))
    await pool.release(session)
    warming = asyncio.create_task(pool.warm(place("/a")))
    await session.warming.wait()
    assert await pool.open(sandbox, place("/a")) is session
    session.warmed.set()
    assert await warming
    assert session.said == ["warm"]
    await pool.release(session)
    await pool.close()


async def test_a_session_that_is_being_warmed_can_be_closed():
    pool, sandbox = SandboxPool(), Sandbox()
    session = await pool.open(sandbox, place("/a"))
    await pool.release(session)
    warming = asyncio.create_task(pool.warm(place("/a")))
    await session.warming.wait()
    await pool.close()
    assert session.said == ["warm", "close"]
    assert await warming


async def test_of_a_workspace_that_was_left_no_session_stays():
    pool, sandbox = SandboxPool(), Sandbox()
    here, there = await pool.open(sandbox, place("/a")), await pool.open(sandbox, place("/b"))
    await pool.release(here)
    await pool.release(there)
    await pool.close_workspace(Path("/a"))
    assert (here.said, there.said) == (["close"], [])
    there.warmed.set()
    assert (await pool.warm(place("/a")), await pool.warm(place("/b"))) == (False, True)
    await pool.close()


async def test_what_was_lent_when_its_workspace_was_left_is_closed_when_it_comes_back():
    pool, sandbox = SandboxPool(), Sandbox()
    lent = await pool.open(sandbox, place("/a"))
    await pool.close_workspace(Path("/a"))
    await pool.release(lent)
    assert lent.said == ["close"]
    again = await pool.open(sandbox, place("/a"))
    await pool.release(again)
    again.warmed.set()
    assert await pool.warm(place("/a"))
    await pool.close()


async def test_an_idle_session_is_paused_and_later_closed():
    pool = SandboxPool(pause_seconds=0.0, close_seconds=0.0)
    session = await pool.open(Sandbox(), place("/a"))
    await pool.release(session)
    await asyncio.wait_for(session.closed.wait(), 10)
    assert session.said == ["pause", "close"]


async def test_a_session_taken_again_is_not_closed_behind_its_users_back():
    pool, sandbox = SandboxPool(pause_seconds=0.0, close_seconds=3600.0), Sandbox()
    session = await pool.open(sandbox, place("/a"))
    await pool.release(session)
    await asyncio.wait_for(session.paused.wait(), 10)
    assert await pool.open(sandbox, place("/a")) is session
    assert session.said == ["pause"]
    await pool.close()
    await pool.release(session)
    assert session.said == ["pause", "close"]


async def test_a_back_end_that_cannot_be_opened_leaves_nothing():
    class Broken(Sandbox):
        async def open(self, place):
            raise OSError("no")

    pool = SandboxPool()
    with pytest.raises(OSError, match="no"):
        await pool.open(Broken(), place("/a"))
    await pool.close()
