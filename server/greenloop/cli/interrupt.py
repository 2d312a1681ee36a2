"""Runs one coroutine so that Ctrl-C, SIGTERM and a closed terminal cancel it.

A second signal ends the process at once, and so does a task that cannot be cancelled in time: sandboxes end with the
process that opened them.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

from greenloop.cli.exit_codes import CANCELLED

T = TypeVar("T")
# Seconds that a cancelled task may take to clean up, on a busy machine.
CLEANUP_SECONDS = 8.0
_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


def run(
    work: Coroutine[Any, Any, T],
    *,
    before_exit: Callable[[], None] = lambda: None,
    cleanup_seconds: float = CLEANUP_SECONDS,
) -> T:
    """The coroutine's result. Raises `asyncio.CancelledError` when a signal cancelled it.

    `before_exit` is called before the process is ended by force (to restore the terminal, to write the last object).
    """

    def end() -> None:
        before_exit()
        print("greenloop: stopped immediately; the sandbox is stopped too.", file=sys.stderr, flush=True)
        os._exit(CANCELLED)

    # Not the loop's own timer: a busy loop must not block this.
    timer = threading.Timer(cleanup_seconds, end)
    timer.daemon = True
    try:
        return asyncio.run(_cancellable(work, timer, end))
    finally:
        timer.cancel()


async def _cancellable(work: Coroutine[Any, Any, T], timer: threading.Timer, end: Callable[[], None]) -> T:
    loop = asyncio.get_running_loop()
    task = loop.create_task(work)
    signalled = False

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        nonlocal signalled
        if signalled:
            end()
        signalled = True
        timer.start()
        # The handler runs between two bytecodes of the loop's current task; only this call wakes the loop up.
        loop.call_soon_threadsafe(task.cancel)

    with _handling_signals(on_signal):
        return await task


@contextmanager
def _handling_signals(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = {number: signal.signal(number, handler) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, previous_handler in previous.items():
            signal.signal(number, previous_handler)


@contextmanager
def interruptible() -> Iterator[None]:
    """For a question inside a running coroutine: a signal raises `KeyboardInterrupt` here, at once."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    with _handling_signals(stop):
        yield
