"""The judge's part of coroutines across the boundary: they wait for one another, and no failed assertion is lost."""

from __future__ import annotations

import asyncio

import pytest

from two_loops import Judge


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
