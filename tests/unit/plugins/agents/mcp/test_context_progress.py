"""What is told meanwhile neither delays a call nor outlives it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from greenloop.plugins.agents.mcp.context import report_progress


class SlowClient:
    """A client whose connection takes its time to end."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.asked, self.ending, self.end = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def report_progress(self, _progress: float, _total: float | None, message: str) -> None:
        self.told.append(message)
        self.asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.ending.set()
            await self.end.wait()


async def test_a_call_that_is_cancelled_while_its_progress_ends_does_not_go_on():
    client: Any = SlowClient()
    later: list[str] = []

    async def tool() -> None:
        async with report_progress(client) as report:
            report("at work")
            await client.asked.wait()
        later.append("more work")

    call = asyncio.create_task(tool())
    await client.ending.wait()
    call.cancel()
    client.end.set()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert (client.told, later) == (["at work"], [])
