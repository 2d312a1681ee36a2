"""Background tasks that end with the server."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

log = logging.getLogger(__name__)


class Tasks:
    """All background tasks of this server, so that none outlives a shutdown."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._tasks)

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Starts a task; its errors are logged."""

        async def guarded() -> None:
            try:
                await work
            except Exception:
                # Request boundary: this task is not awaited.
                log.exception("A background task failed")

        task = asyncio.get_running_loop().create_task(guarded())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        # Else Python warns about a task that was cancelled before its first step.
        task.add_done_callback(lambda _task: work.close())
        return task

    async def wait(self) -> None:
        """Returns when no task is left, including those started meanwhile."""
        while self._tasks:
            await asyncio.wait(list(self._tasks))

    async def close(self) -> None:
        """Cancels all tasks and waits for their clean-up."""
        for task in list(self._tasks):
            # A second cancellation would interrupt the task's clean-up.
            if not task.cancelling():
                task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
