"""Waiting for changes of open documents, and for a pause in them."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable


class ChangeSignal:
    """Wakes its waiters after each change."""

    def __init__(self) -> None:
        self._waiting: set[asyncio.Future[None]] = set()
        self._changed_at = -math.inf

    def notify_changed(self) -> None:
        """Wakes all waiters."""
        self._changed_at = time.monotonic()
        for future in self._waiting:
            if not future.done():
                future.set_result(None)
        self._waiting.clear()

    async def wait_until(self, condition: Callable[[], bool], seconds: float) -> bool:
        """True if the condition became true within `seconds`; checked after every change of any document."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        while not condition():
            future: asyncio.Future[None] = loop.create_future()
            self._waiting.add(future)
            try:
                async with asyncio.timeout_at(deadline):
                    await future
            except TimeoutError:
                return condition()
            finally:
                self._waiting.discard(future)
        return True

    async def wait_for_quiet(self, seconds: float, patience: float) -> bool:
        """Waits until no document has changed for `seconds`; False after `patience` seconds without that."""
        deadline = time.monotonic() + patience
        while (remaining := self._changed_at + seconds - time.monotonic()) > 0:
            if time.monotonic() + remaining > deadline:
                return False
            await asyncio.sleep(remaining)
        return True
