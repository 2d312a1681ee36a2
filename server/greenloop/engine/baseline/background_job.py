"""Work in the background of a run, in a sandbox of its own, so that no candidate waits for it.

A job writes a record of its own, which the run takes over in one place once the job is stopped. This module must not
know what a job does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from greenloop.core.errors import CannotVerifyError
from greenloop_sandbox import Session


@dataclass(kw_only=True)
class BackgroundJob:
    """A job that may begin again once it was stopped. Only `stop` waits."""

    open_session: Callable[[], Awaitable[Session]]
    _opening: asyncio.Task[Session] | None = None
    _working: asyncio.Task[None] | None = None

    @property
    def has_begun(self) -> bool:
        return self._working is not None

    def prepare(self) -> None:
        """Opens the sandbox before there is work for it."""
        self._opening = self._opening or asyncio.create_task(self._open())

    def begin(self, work: Callable[[Session], Awaitable[None]]) -> None:
        """Begins to work, in a sandbox that is closed where the work ends."""
        self.prepare()
        self._working = asyncio.create_task(self._work(work))

    async def stop(self) -> None:
        """Ends the job, and leaves nothing behind. May be called at any time."""
        tasks = [task for task in (self._working, self._opening) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._working = None
        await self._close()

    async def _open(self) -> Session:
        session = await self.open_session()
        try:
            await session.warm()
        except BaseException:
            await asyncio.shield(session.close())
            raise
        return session

    async def _work(self, work: Callable[[Session], Awaitable[None]]) -> None:
        assert self._opening is not None
        try:
            session = await self._opening
            try:
                await work(session)
            finally:
                await asyncio.shield(self._close())
        except CannotVerifyError:
            pass  # the run itself meets the same fault, and reports it

    async def _close(self) -> None:
        opening, self._opening = self._opening, None
        if opening is not None and not opening.cancelled() and opening.exception() is None:
            await opening.result().close()
