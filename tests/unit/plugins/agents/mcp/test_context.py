"""A call that the SDK cancels ends only when its clean-up has ended."""

from __future__ import annotations

import asyncio

import anyio
import pytest

from greenloop.core.errors import UsageError
from greenloop.plugins.agents.mcp.context import run_cancellable


async def test_the_clean_up_of_cancelled_work_is_done_when_the_call_ends():
    started, done = asyncio.Event(), []

    async def work() -> None:
        try:
            started.set()
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)  # a bare await here would be cancelled, too
            done.append("cleaned up")

    async with anyio.create_task_group() as group:
        group.start_soon(run_cancellable, work())
        await started.wait()
        group.cancel_scope.cancel()
    assert done == ["cleaned up"]


async def test_results_and_errors_come_through():
    async def answer() -> int:
        return 7

    async def fail() -> None:
        raise UsageError("There is no such test.")

    assert await run_cancellable(answer()) == 7
    with pytest.raises(UsageError):
        await run_cancellable(fail())
