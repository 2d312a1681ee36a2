"""Coroutines that run side by side: what arrives, what fails, what is cancelled."""

from __future__ import annotations

import asyncio

import pytest

from greenloop.core.deadline import gather_or_cancel


async def give(value):
    await asyncio.sleep(0)
    return value


async def fail(error):
    await asyncio.sleep(0)
    raise error


async def test_results_and_expected_errors_keep_their_places():
    error = LookupError("gone")
    assert await gather_or_cancel([give(1), fail(error), give(None)], LookupError) == [1, error, None]


@pytest.mark.parametrize("expected", [(), (LookupError,)])
async def test_any_other_error_cancels_the_rest(expected):
    ended = asyncio.Event()

    async def wait():
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    with pytest.raises(ValueError, match="broken"):
        await gather_or_cancel([wait(), fail(ValueError("broken"))], *expected)
    assert ended.is_set()


async def test_cancelling_the_gathering_cancels_what_is_gathered():
    began, ended = asyncio.Event(), asyncio.Event()

    async def wait():
        try:
            began.set()
            await asyncio.Event().wait()
        finally:
            ended.set()

    gathering = asyncio.create_task(gather_or_cancel([wait()], LookupError))
    await began.wait()
    gathering.cancel()
    with pytest.raises(asyncio.CancelledError):
        await gathering
    assert ended.is_set()
