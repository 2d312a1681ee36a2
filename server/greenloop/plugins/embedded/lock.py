"""File lock that is released when the process holding it ends, however it ends."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from greenloop.core.errors import ModelError

# Seconds between two tries of a waiting process.
INTERVAL = 0.1


def take(path: Path, *, shared: bool = False) -> int | None:
    """Takes the lock as an open file descriptor (close it to release), or returns None while another process has it.

    A shared lock does not exclude other shared ones. Raises `ModelError` on systems without such locks.
    """
    if sys.platform == "win32":
        raise ModelError(
            "The embedded model runs on Linux and macOS only.",
            remedy="Name another model, such as ollama/NAME, or use WSL.",
        )
    import fcntl  # noqa: PLC0415 - does not exist on Windows

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
    """Does a process hold the lock now? Takes it for an instant, so that others who want it must retry."""
    if not path.exists():
        return False
    descriptor = take(path, shared=True)
    if descriptor is None:
        return True
    os.close(descriptor)
    return False


@asynccontextmanager
async def exclusive(path: Path, waiting: Callable[[], None] = lambda: None) -> AsyncIterator[None]:
    """Holds the lock; while waiting for it, calls `waiting` at every try."""
    while (descriptor := take(path)) is None:
        waiting()
        await asyncio.sleep(INTERVAL)
    try:
        yield
    finally:
        os.close(descriptor)
