"""The code's event loop: what a turn returns."""

from __future__ import annotations

import asyncio

import pytest

from two_loops import Code, apart


async def test_a_turn_returns_what_has_ended_and_what_is_awaited():
    code, make = Code(), lambda kind, values: code.await_handle("await", values[0])
    code_turn = asyncio.to_thread
    first = await code_turn(code.start, make, "run", "an awaitable")
    (_, (asked,), _, _) = await code_turn(code.turn, [], [])
    assert asked[1:] == ["await", "an awaitable", ()]
    ended, started, given_up, _ = await code_turn(code.turn, [[asked[0], "return", 7]], [])
    assert (ended, started, given_up) == ([[first, "return", 7]], [], [])


async def test_a_cancelled_task_gives_up_what_it_awaits():
    code = Code()
    first = await asyncio.to_thread(code.start, lambda _, values: code.await_handle("await", values[0]), "run", "x")
    (_, (asked,), _, _) = await asyncio.to_thread(code.turn, [], [])
    (ended,), _, given_up, _ = await asyncio.to_thread(code.turn, [], [first])
    assert (ended[:2], type(ended[2]), given_up) == ([first, "raise"], asyncio.CancelledError, [asked[0]])


async def test_a_turn_says_when_the_next_one_is_wanted():
    code = Code()
    await asyncio.to_thread(code.start, lambda *_: asyncio.sleep(60), "run")
    *_, pause = await asyncio.to_thread(code.turn, [], [])
    assert 50 < pause <= 60


async def test_another_loop_of_the_code_cannot_await_what_the_tests_have():
    with pytest.raises(apart["apart_rules"].CannotCross):
        await Code().await_handle("await", "x")
