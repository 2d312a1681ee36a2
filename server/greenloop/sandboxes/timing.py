"""Measures how long a request waited for its sandbox: opening, baseline, tests, verification."""

from __future__ import annotations

from time import monotonic
from types import TracebackType
from typing import Self

from greenloop.core.ports import Session
from greenloop.core.records.sandbox import Execution, TestRun


class Stopwatch:
    """Runs while any task is inside its `with`; `seconds` is the total so far, with overlaps counted once."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._inside = 0
        self._since = 0.0

    def __enter__(self) -> Self:
        if not self._inside:
            self._since = monotonic()
        self._inside += 1
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._inside -= 1
        if not self._inside:
            self.seconds += monotonic() - self._since


class Timed:
    """A session whose use of the sandbox is timed."""

    def __init__(self, session: Session, watch: Stopwatch) -> None:
        self._session = session
        self._watch = watch

    @property
    def name(self) -> str:
        return self._session.name

    async def run(self, run: TestRun) -> Execution:
        with self._watch:
            return await self._session.run(run)

    async def warm(self) -> None:
        with self._watch:
            await self._session.warm()

    async def pause(self) -> None:
        await self._session.pause()

    async def close(self) -> None:
        with self._watch:
            await self._session.close()
