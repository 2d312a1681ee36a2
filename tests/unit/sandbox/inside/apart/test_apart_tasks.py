"""Coroutines of both sides: they wait for one another, no failed assertion is lost, and what a turn returns."""

from __future__ import annotations

import asyncio

import pytest

from two_loops import Code, Judge, apart

WAITS = [1, None, "call", "x"]  # what the judge asks first


async def turn(code, *news):
    return await asyncio.to_thread(code.turn, *news)


async def test_a_turn_returns_what_has_ended_and_what_is_awaited():
    code = Code(lambda code, awaitable: code.await_handle("await", awaitable))
    _, (asked,), _, _ = await turn(code, [], [WAITS], [])
    assert asked[1:] == [None, "op", "await", "x", ()]
    ended, started, given_up, _ = await turn(code, [[asked[0], "return", 7]], [], [])
    assert (ended, started, given_up) == ([[1, "return", 7]], [], [])


async def test_a_cancelled_task_gives_up_what_it_awaits():
    code = Code(lambda code, awaitable: code.await_handle("await", awaitable))
    _, (asked,), _, _ = await turn(code, [], [WAITS], [])
    (ended,), _, given_up, _ = await turn(code, [], [], [1])
    assert (ended[:2], type(ended[2]), given_up) == ([1, "raise"], asyncio.CancelledError, [asked[0]])


async def test_a_task_that_is_cancelled_before_it_runs_ends():
    code = Code(lambda code, awaitable: code.await_handle("await", awaitable))
    (ended,), started, _, _ = await turn(code, [], [WAITS], [1])
    assert (ended[:2], type(ended[2]), started) == ([1, "raise"], asyncio.CancelledError, [])


async def test_a_turn_says_when_the_next_one_is_wanted():
    *_, pause = await turn(Code(lambda *_: asyncio.sleep(60)), [], [WAITS], [])
    assert 50 < pause <= 60


async def test_another_loop_of_the_code_cannot_await_what_the_tests_have():
    with pytest.raises(apart["apart_rules"].CannotCross):
        await Code(print).await_handle("await", "x")


# -- both sides ---------------------------------------------------------------------------------------------------------


async def test_coroutines_of_both_sides_wait_for_one_another():
    judge, event = Judge(lambda code, awaitable: code.await_handle("await", awaitable)), asyncio.Event()

    async def wait():
        await event.wait()
        return "waited"

    async def free():
        event.set()
        return "freed"

    assert await asyncio.wait_for(asyncio.gather(judge.ask(wait()), judge.ask(free())), 10) == ["waited", "freed"]


async def test_an_exception_crosses_in_both_directions():
    caught = []

    async def call(code, awaitable):
        try:
            return await code.await_handle("await", awaitable)
        except KeyError as error:
            caught.append(error.args)
            raise LookupError("none") from error

    async def fail():
        raise KeyError("a")

    with pytest.raises(LookupError, match="none"):
        await Judge(call).ask(fail())
    assert caught == [("a",)]


async def test_an_assertion_that_the_code_swallows_is_noted():
    async def swallow(code, awaitable):
        try:
            await code.await_handle("await", awaitable)
        except AssertionError:
            return "fine"

    async def check():
        raise AssertionError("no")

    judge = Judge(swallow)
    assert await judge.ask(check()) == "fine"
    assert judge.swallowed == ["no"]


async def test_an_assertion_that_rises_is_not_swallowed():
    async def check():
        raise AssertionError("no")

    judge = Judge(lambda code, awaitable: code.await_handle("await", awaitable))
    with pytest.raises(AssertionError, match="no"):
        await judge.ask(check())
    assert judge.swallowed == []


async def test_an_assertion_of_a_task_that_outlives_its_call_is_noted():
    begun, tasks = asyncio.Event(), []

    async def leave(code, awaitable):
        tasks.append(asyncio.ensure_future(code.await_handle("await", awaitable)))
        await asyncio.sleep(0)

    async def check():
        await begun.wait()
        raise AssertionError("late")

    judge = Judge(leave)
    await judge.ask(check())
    begun.set()
    await asyncio.sleep(0.05)
    assert judge.swallowed == ["late"]


async def test_a_cancelled_call_cancels_the_task_of_the_code():
    ended = asyncio.Event()

    async def wait(code):
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    judge = Judge(wait)
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(judge.ask(), 0.05)
    for _ in range(100):
        await asyncio.sleep(0.01)
        if ended.is_set():
            break
    assert ended.is_set()
