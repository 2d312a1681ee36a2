"""Reserves standard input and output for a protocol.

A library's print, a write to descriptor 1 or a child process would corrupt the stream; a client that does not read
would block the event loop. This module prevents both. It must not know what the bytes mean.
"""

from __future__ import annotations

import logging
import os
import queue
import sys
import threading
from collections.abc import Callable
from typing import BinaryIO, cast

# Unread bytes at which optional messages are left out, and at which the connection is given up.
SLOW_BACKLOG = 1 << 20
MAX_BACKLOG = 64 << 20

log = logging.getLogger(__name__)


def take_stdio() -> tuple[BinaryIO, BinaryIO]:
    """Private duplicates of standard input and output; descriptor 0 becomes /dev/null and 1 becomes standard error.

    Children inherit neither duplicate, so nothing but the protocol can read the one or write the other.
    """
    source, sink = os.dup(0), os.dup(1)
    sys.stdout.flush()
    os.dup2(2, 1)
    devnull = os.open(os.devnull, os.O_RDONLY)
    os.dup2(devnull, 0)
    os.close(devnull)
    return os.fdopen(source, "rb"), os.fdopen(sink, "wb")


class Outbox:
    """Writes in its own thread, in order, so that a client that does not read never blocks the event loop.

    When more than `MAX_BACKLOG` bytes wait, nothing more is accepted, and `on_give_up` is called once, by the writer.
    """

    def __init__(self, stream: BinaryIO, on_give_up: Callable[[], None] = lambda: None) -> None:
        self._stream, self._on_give_up = stream, on_give_up
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._waiting = 0
        self._counting = threading.Lock()
        self._broken = False
        self._thread = threading.Thread(target=self._pump, name="greenloop-outbox", daemon=True)
        self._thread.start()

    @property
    def behind(self) -> bool:
        """The client does not keep up: optional messages should be left out."""
        return self._waiting > SLOW_BACKLOG

    def write(self, data: bytes) -> int:
        if self._broken:
            return len(data)
        self._count(len(data))
        if self._waiting > MAX_BACKLOG:
            log.error("The client does not read: %d bytes wait for it. The connection is given up", self._waiting)
            self._broken = True
            self._on_give_up()
        else:
            self._queue.put(data)
        return len(data)

    def flush(self) -> None:
        """Nothing to do: the thread flushes after every message."""

    def close(self, seconds: float = 2.0) -> None:
        """Waits until everything is written, at most `seconds` (the client may be gone)."""
        self._queue.put(None)
        self._thread.join(seconds)

    def binary(self) -> BinaryIO:
        """The outbox as a stream, for callers that only write, flush and close it."""
        return cast("BinaryIO", self)

    def _count(self, size: int) -> None:
        with self._counting:
            self._waiting += size

    def _pump(self) -> None:
        while (data := self._queue.get()) is not None:
            try:
                self._stream.write(data)
                self._stream.flush()
            except OSError:
                # The client is gone; the end of its input ends the server.
                self._broken = True
                return
            self._count(-len(data))
