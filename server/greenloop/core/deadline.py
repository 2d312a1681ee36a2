"""The wall time of one run: how much is left, and how much of it is kept for the proof of a result.

It must not know what the time is spent on.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, TypeVar

from greenloop.core.errors import OutOfTimeError

SHARE = 0.25  # of the run's time is kept for the proof at most
MOST_KEPT = 60.0  # seconds that are kept for it at most


@dataclass(kw_only=True)
class Deadline:
    """The end of a run that may take `seconds` of wall time from now on.

    `proof_seconds` is what a proof is expected to take, as soon as that is known.
    """

    seconds: float = math.inf
    proof_seconds: float = math.inf
    clock: Callable[[], float] = monotonic
    _began: float = field(init=False)

    def __post_init__(self) -> None:
        self._began = self.clock()

    @property
    def left(self) -> float:
        """Seconds until the end, at least 0."""
        return max(0.0, self._began + self.seconds - self.clock())

    @property
    def kept(self) -> float:
        """Seconds before the end that are kept for the proof of a result."""
        return min(SHARE * self.seconds, MOST_KEPT, self.proof_seconds)

    @property
    def left_to_search(self) -> float:
        """Seconds until a result has to be found, at least 0."""
        return max(0.0, self.left - self.kept)

    def limit(self, *, kept: float = 0.0) -> asyncio.Timeout:
        """Returns a context manager that raises `TimeoutError` `kept` seconds before the end."""
        return asyncio.timeout(None if math.isinf(self.seconds) else self.left - kept)


@asynccontextmanager
async def before_search(deadline: Deadline) -> AsyncIterator[None]:
    """Raises `OutOfTimeError` where the run's time ends meanwhile."""
    try:
        async with deadline.limit() as limit:
            yield
    except TimeoutError as error:
        if limit.expired():
            raise OutOfTimeError(deadline.seconds) from error
        raise


# -- waiting for several ----------------------------------------------------------------------------------------------


T = TypeVar("T")
E = TypeVar("E", bound=Exception)


async def gather_or_cancel(coroutines: Sequence[Coroutine[Any, Any, T]], *expected: type[E]) -> list[T | E]:
    """Runs the coroutines concurrently; returns their results, and errors of the expected types in place of a result.

    The first other failure cancels the others and is raised.
    """
    tasks = [asyncio.create_task(coroutine) for coroutine in coroutines]
    try:
        for task in asyncio.as_completed(tasks):
            with suppress(*expected):
                await task
    finally:
        for each in tasks:
            each.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
    return [result for result in ended if isinstance(result, expected) or not isinstance(result, BaseException)]
