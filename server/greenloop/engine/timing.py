"""Measures how long a request waited for its sandbox: opening, baseline, tests, verification."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Self

from greenloop_sandbox import Execution, Session, TestRun


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
