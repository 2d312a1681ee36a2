"""Measures how long a request waited for its sandbox, and repeats the status of a step that takes long."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from time import monotonic
from typing import Self

from greenloop_sandbox import Execution, Session, TestRun

INTERVAL = 1.9  # seconds without a status; users wait for two


class Stopwatch:
    """Runs while any task is inside its `with`; `seconds` is the total so far, with overlaps counted once."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._active = 0
        self._started = 0.0

    def __enter__(self) -> Self:
        if not self._active:
            self._started = monotonic()
        self._active += 1
        return self

    def __exit__(self, *_error: object) -> None:
        self._active -= 1
        if not self._active:
            self.seconds += monotonic() - self._started


class TimedSession:
    """A session whose use of the sandbox is timed. `close` ends one that is only borrowed, in place of its own."""

    def __init__(
        self, session: Session, stopwatch: Stopwatch, *, close: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        self._session = session
        self._stopwatch = stopwatch
        self._close = close or session.close

    @property
    def name(self) -> str:
        return self._session.name

    async def run(self, run: TestRun) -> Execution:
        with self._stopwatch:
            return await self._session.run(run)

    async def warm(self) -> None:
        with self._stopwatch:
            await self._session.warm()

    async def pause(self) -> None:
        await self._session.pause()

    async def close(self) -> None:
        with self._stopwatch:
            await self._close()


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
