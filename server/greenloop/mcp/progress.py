"""Tells the client what happens meanwhile, without waiting for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from greenloop.mcp.context import ServiceContext


@asynccontextmanager
async def report_progress(context: ServiceContext) -> AsyncIterator[Callable[..., None]]:
    """Gives a function `report(sentence, done)`; a client that is slow gets the latest sentence only."""
    latest: asyncio.Queue[tuple[float, str]] = asyncio.Queue(maxsize=1)
    count = 0.0

    def report(sentence: str, done: float | None = None) -> None:
        nonlocal count
        count = max(count, done) if done is not None else count
        with suppress(asyncio.QueueEmpty):
            latest.get_nowait()
        latest.put_nowait((count, sentence))

    async def send() -> None:
        while True:
            number, sentence = await latest.get()
            await context.report_progress(number, None, sentence)

    sending = asyncio.create_task(send())
    try:
        yield report
    finally:
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
