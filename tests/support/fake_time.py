"""An event loop whose time jumps to the next timer: a step that sleeps an hour is over at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from greenloop.core.deadline import Deadline

T = TypeVar("T")


class FakeTimeLoop(asyncio.SelectorEventLoop):
    now = 0.0

    def time(self) -> float:
        return self.now

    def _run_once(self) -> None:
        # A cancelled timer stays first in the queue; a jump to it would leave the rest to be waited for in real time.
        timers = [each.when() for each in self._scheduled if not each.cancelled()]  # type: ignore[attr-defined]
        if not self._ready and timers:  # type: ignore[attr-defined]
            self.now = max(self.now, min(timers))
        super()._run_once()  # type: ignore[misc]


def run_in_fake_time(work: Callable[[], Awaitable[T]]) -> tuple[T, float]:
    """Returns the result of the work, and how many seconds it took in its own time."""

    async def timed() -> T:
        return await work()

    with asyncio.Runner(loop_factory=FakeTimeLoop) as runner:
        return runner.run(timed()), runner.get_loop().time()


def deadline(seconds: float, **about: Any) -> Deadline:
    """A deadline in the time of the running loop."""
    return Deadline(seconds=seconds, clock=asyncio.get_running_loop().time, **about)
