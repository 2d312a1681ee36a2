"""Sessions that outlive a request: who gets which, when they pause, when they go."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from greenloop.core.records.sandbox import Environment, SandboxSpec
from greenloop.sandboxes.pool import SandboxPool


class Session:
    name = "double"

    def __init__(self):
        self.said = []
        self.paused = asyncio.Event()
        self.closed = asyncio.Event()

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
    first = await pool.open(sandbox, place("/a"))
    second = await pool.open(sandbox, place("/a"))
    assert first is not second
    await pool.release(first)
    await pool.release(second)
    assert (first.said, second.said) == ([], ["close"])
    assert pool.is_ready(place("/a"))
    assert await pool.open(sandbox, place("/b")) is not first
    assert await pool.open(sandbox, place("/a")) is first
    assert not pool.is_ready(place("/a"))
    await pool.release(first)
    await pool.close()
    assert first.said == ["close"]


async def test_of_a_workspace_that_was_left_no_session_stays():
    pool, sandbox = SandboxPool(), Sandbox()
    here, there = await pool.open(sandbox, place("/a")), await pool.open(sandbox, place("/b"))
    await pool.release(here)
    await pool.release(there)
    await pool.close_workspace(Path("/a"))
    assert (here.said, there.said) == (["close"], [])
    assert (pool.is_ready(place("/a")), pool.is_ready(place("/b"))) == (False, True)
    await pool.close()


async def test_what_was_lent_when_its_workspace_was_left_is_closed_when_it_comes_back():
    pool, sandbox = SandboxPool(), Sandbox()
    lent = await pool.open(sandbox, place("/a"))
    await pool.close_workspace(Path("/a"))
    await pool.release(lent)
    assert lent.said == ["close"]
    again = await pool.open(sandbox, place("/a"))
    await pool.release(again)
    assert pool.is_ready(place("/a"))
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
