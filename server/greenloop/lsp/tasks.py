"""Background tasks that end with the server, and every way in which it ends: each cleans up, then ends the process."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Coroutine
from typing import Any

from pygls.lsp.server import LanguageServer

from greenloop.lsp.engines import Engines

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


# Seconds for the clean-up after the end of the client.
CLEANUP = 5.0


class ProcessEnd:
    """Cancels all tasks and closes all sandboxes at the end."""

    def __init__(self, server: LanguageServer, tasks: Tasks, engines: Engines) -> None:
        self._server, self._tasks, self._engines = server, tasks, engines
        # Kept, because the event loop holds tasks weakly.
        self._watching: asyncio.Task[None] | None = None
        self._endings: set[asyncio.Task[None]] = set()

    def watch(self, client_pid: int | None) -> None:
        """Ends the process with a signal, the input, or the client's process."""
        self._end_with_signals()
        self._watching = asyncio.get_running_loop().create_task(self._clean_up_at_end())
        if client_pid:
            self._end_with_client(client_pid)

    async def clean_up(self) -> bool:
        """Cancels and closes everything; whether that was done in time. Errors and delays never block the exit."""

        async def close() -> None:
            await self._tasks.close()
            await self._engines.pool.close()

        clean_up = asyncio.ensure_future(close())
        await asyncio.wait({clean_up}, timeout=CLEANUP)
        if not clean_up.done():
            log.warning("Cleaning up takes longer than %g s", CLEANUP)
        elif not clean_up.cancelled() and clean_up.exception() is not None:
            log.error("Cleaning up failed", exc_info=clean_up.exception())
        return clean_up.done()

    async def _clean_up_at_end(self) -> None:
        """Cleans up however the event loop ends (no more input, `exit` without `shutdown`)."""
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            if not await self.clean_up():
                # Otherwise the process would wait for the clean-up, however long it takes.
                is_shut_down = self._server.protocol._shutdown  # noqa: SLF001 - pygls keeps the only record of it
                os._exit(0 if is_shut_down else 1)

    def _end(self, status: int) -> None:
        self._endings.add(asyncio.get_running_loop().create_task(self._exit(status)))

    async def _exit(self, status: int) -> None:
        """Cleans up and exits the process; a thread blocked on a silent client's input cannot be ended otherwise."""
        await self.clean_up()
        os._exit(status)

    def _end_with_signals(self) -> None:
        if sys.platform == "win32":
            return
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, self._end, 128 + number)

    def _end_with_client(self, pid: int) -> None:
        """Exits with the client's process, because a child of the client may keep the server's input open."""
        loop = asyncio.get_running_loop()
        try:
            descriptor = os.pidfd_open(pid)
        except (AttributeError, OSError):
            # Another system, or a client in another process namespace: only the end of its input shows its end.
            return

        def end() -> None:
            loop.remove_reader(descriptor)
            os.close(descriptor)
            self._end(1)

        loop.add_reader(descriptor, end)
