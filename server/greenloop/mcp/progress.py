"""Tells the client what happens meanwhile, without waiting for it."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from greenloop.mcp.context import ServiceContext


@asynccontextmanager
async def report_progress(context: ServiceContext) -> AsyncIterator[Callable[..., None]]:
    """Gives a function `report(sentence)`; a client that is slow gets the latest sentence only.

    The number rises with each sentence, as the protocol wants it; the whole is not known.
    """
    latest: asyncio.Queue[str] = asyncio.Queue(maxsize=1)

    def report(sentence: str) -> None:
        with suppress(asyncio.QueueEmpty):
            latest.get_nowait()
        latest.put_nowait(sentence)

    async def send() -> None:
        for number in itertools.count(1):
            await context.report_progress(number, None, await latest.get())

    sending = asyncio.create_task(send())
    try:
        yield report
    finally:
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
