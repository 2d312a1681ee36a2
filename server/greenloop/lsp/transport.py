"""Standard input and output of the server, kept for the protocol alone.

A library's print, a write to descriptor 1 or a child process would corrupt the stream; a client that does not read
would block the event loop. Neither can happen here. This module must not know what the bytes mean.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
from typing import BinaryIO, cast


def take_stdio() -> tuple[BinaryIO, BinaryIO]:
    """Private duplicates of standard input and output; descriptor 0 becomes /dev/null and 1 becomes standard error.

    Children inherit neither duplicate, so nothing but the protocol can read the one or write the other.
    """
    source, sink = os.dup(0), os.dup(1)
    sys.stdout.flush()
    os.dup2(2, 1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    return os.fdopen(source, "rb"), os.fdopen(sink, "wb")


class Outbox:
    """Writes in a thread of its own, in order, so that a client that does not read never holds up the event loop."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._broken = False
        self._thread = threading.Thread(target=self._pump, name="greenloop-outbox", daemon=True)
        self._thread.start()

    def write(self, data: bytes) -> int:
        if not self._broken:
            self._queue.put(data)
        return len(data)

    def flush(self) -> None:
        """Nothing to do: the thread flushes after every message."""

    def close(self, seconds: float = 2.0) -> None:
        """Waits until everything is written, at most `seconds` (the client may be gone)."""
        self._queue.put(None)
        self._thread.join(seconds)

    def binary(self) -> BinaryIO:
        """The outbox for those who ask for a stream and only write, flush and close it."""
        return cast("BinaryIO", self)

    def _pump(self) -> None:
        while (data := self._queue.get()) is not None:
            try:
                self._stream.write(data)
                self._stream.flush()
            except OSError:
                # The client is gone; the end of its input ends the server.
                self._broken = True
                return
