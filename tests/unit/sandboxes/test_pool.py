"""Sessions that outlive a request: who gets which, when they pause, when they go."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from greenloop.core.records import Environment, Place
from greenloop.sandboxes.pool import Keeper


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


def place(root: str) -> Place:
    python = Path("/usr/bin/python3")
    environment = Environment(
        executable=python, prefix=Path("/usr"), base=Path("/usr"), version=(3, 11), source="test", has_pytest=True
    )
    return Place(root=Path(root), environment=environment)


async def test_the_next_request_gets_the_session_of_the_one_before():
    keeper, sandbox = Keeper(), Sandbox()
    first = await keeper.open(sandbox, place("/a"))
    second = await keeper.open(sandbox, place("/a"))
    assert first is not second
    await keeper.release(first)
    await keeper.release(second)
    assert (first.said, second.said) == ([], ["close"])
    assert keeper.ready(place("/a"))
    assert await keeper.open(sandbox, place("/b")) is not first
    assert await keeper.open(sandbox, place("/a")) is first
    assert not keeper.ready(place("/a"))
    await keeper.release(first)
    await keeper.close()
    assert first.said == ["close"]


async def test_of_a_workspace_that_was_left_no_session_stays():
    keeper, sandbox = Keeper(), Sandbox()
    here, there = await keeper.open(sandbox, place("/a")), await keeper.open(sandbox, place("/b"))
    await keeper.release(here)
    await keeper.release(there)
    await keeper.leave(Path("/a"))
    assert (here.said, there.said) == (["close"], [])
    assert (keeper.ready(place("/a")), keeper.ready(place("/b"))) == (False, True)
    await keeper.close()


async def test_what_was_lent_when_its_workspace_was_left_is_closed_when_it_comes_back():
    keeper, sandbox = Keeper(), Sandbox()
    lent = await keeper.open(sandbox, place("/a"))
    await keeper.leave(Path("/a"))
    await keeper.release(lent)
    assert lent.said == ["close"]
    again = await keeper.open(sandbox, place("/a"))
    await keeper.release(again)
    assert keeper.ready(place("/a"))
    await keeper.close()


async def test_an_idle_session_is_paused_and_later_closed():
    keeper = Keeper(pause=0.0, close=0.0)
    session = await keeper.open(Sandbox(), place("/a"))
    await keeper.release(session)
    await asyncio.wait_for(session.closed.wait(), 10)
    assert session.said == ["pause", "close"]


async def test_a_session_taken_again_is_not_closed_behind_its_users_back():
    keeper, sandbox = Keeper(pause=0.0, close=3600.0), Sandbox()
    session = await keeper.open(sandbox, place("/a"))
    await keeper.release(session)
    await asyncio.wait_for(session.paused.wait(), 10)
    assert await keeper.open(sandbox, place("/a")) is session
    assert session.said == ["pause"]
    await keeper.close()
    await keeper.release(session)
    assert session.said == ["pause", "close"]


async def test_a_back_end_that_cannot_be_opened_leaves_nothing():
    class Broken(Sandbox):
        async def open(self, place):
            raise OSError("no")

    keeper = Keeper()
    with pytest.raises(OSError, match="no"):
        await keeper.open(Broken(), place("/a"))
    await keeper.close()
