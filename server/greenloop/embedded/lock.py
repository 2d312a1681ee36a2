"""A lock that ends with the process that holds it, however that process ends."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from greenloop.core.errors import ModelProblem

# How often a waiting process looks again, in seconds.
INTERVAL = 0.1


def take(path: Path, *, shared: bool = False) -> int | None:
    """The lock as an open file descriptor (close it to let go), or None while another process has it.

    A shared lock keeps nobody from sharing it.

    Raises `ModelProblem` on systems that have no such locks.
    """
    if sys.platform == "win32":
        raise ModelProblem(
            "The embedded model runs on Linux and macOS only.",
            remedy="Name another model, such as ollama/NAME, or use WSL.",
        )
    import fcntl  # noqa: PLC0415 - not there on Windows

    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def held(path: Path) -> bool:
    """Whether some process has the lock now. For an instant the asker has it: who wants it for long tries twice."""
    if not path.exists():
        return False
    descriptor = take(path, shared=True)
    if descriptor is None:
        return True
    os.close(descriptor)
    return False


@asynccontextmanager
async def exclusive(path: Path, waiting: Callable[[], None] = lambda: None) -> AsyncIterator[None]:
    """Waits for the lock, calling `waiting` now and then, and holds it."""
    while (descriptor := take(path)) is None:
        waiting()
        await asyncio.sleep(INTERVAL)
    try:
        yield
    finally:
        os.close(descriptor)
