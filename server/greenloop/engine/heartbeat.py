"""Repeats the newest status of a step that takes long, so that nobody has to guess whether it still goes on.

It must not know what the steps are.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

INTERVAL = 1.9  # seconds without a status; users wait for two


class Heartbeat:
    """Reports statuses; `report` may be called from any thread. No longer beats after `stop`."""

    def __init__(self, report_status: Callable[[str], None], clock: Callable[[], float]) -> None:
        self._report_status, self._clock = report_status, clock
        self._sentence, self._began, self._told = "", 0.0, clock()
        self._is_over = False

    def report(self, sentence: str) -> None:
        self._sentence, self._began = sentence, self._clock()
        self._tell(sentence)

    def stop(self) -> None:
        self._is_over = True

    async def beat(self) -> None:
        """Repeats the newest status, with the seconds that it has taken, until stopped."""
        while not self._is_over:
            if (left := self._told + INTERVAL - self._clock()) > 0:
                await asyncio.sleep(left)
            elif self._sentence:
                self._tell(f"{self._sentence} ({self._clock() - self._began:.0f} s)")
            else:
                self._told = self._clock()

    def _tell(self, sentence: str) -> None:
        self._told = self._clock()
        self._report_status(sentence)


@asynccontextmanager
async def heartbeat(report_status: Callable[[str], None]) -> AsyncIterator[Heartbeat]:
    """Beats until the context ends, or is stopped."""
    beating = Heartbeat(report_status, asyncio.get_running_loop().time)
    task = asyncio.create_task(beating.beat())
    try:
        yield beating
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
