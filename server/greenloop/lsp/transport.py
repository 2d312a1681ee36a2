"""Standard input and output of the server, kept for the protocol alone.

A library's print, a write to descriptor 1 or a child process would corrupt the stream; a client that does not read
would block the event loop. Neither can happen here. This module must not know what the bytes mean.
"""

from __future__ import annotations

import logging
import os
import queue
import re
import sys
import threading
from collections.abc import Callable
from typing import BinaryIO, cast

# Bytes: of one message, of a header line, of one reading.
LONGEST = 256 << 20
LINE = 64 << 10
PIECE = 1 << 20
# Bytes that wait for a client that does not read: when what can be left out is, and when the connection is given up.
MUCH = 1 << 20
MOST = 64 << 20
_LENGTH = re.compile(rb"content-length\s*:\s*(\d{1,18})\s*$", re.IGNORECASE)

log = logging.getLogger(__name__)


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


class Inbox:
    """Takes messages from a stream: header lines, a blank line, the body; lenient where clients are sloppy.

    Lines may end with LF alone, names may be written in any case, and whatever is no header is passed over.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._skipped = 0

    def read(self) -> bytes | None:
        """The next body; empty for one without a usable length or that is too long; None when the input ended."""
        try:
            if not self._skip():
                return None
            length = self._length()
            if length is not None and length > LONGEST:
                log.error("A message of %d bytes is skipped; at most %d are read", length, LONGEST)
                self._skipped = length
                return b""
            return None if length is None else self._body(length)
        except OSError:
            return None

    def _length(self) -> int | None:
        """What the headers say, 0 where they say nothing; None when the input ended."""
        found, any_header = 0, False
        while line := self._stream.readline(LINE):
            if line.strip():
                any_header = True
                # Also behind what a message that was longer than it said left on the line.
                if match := _LENGTH.search(line):
                    found = int(match[1])
            elif any_header:
                return found
        return None

    def _body(self, length: int) -> bytes | None:
        # In pieces: a wrong length must not allocate what never comes.
        pieces = []
        while length:
            piece = self._stream.read(min(length, PIECE))
            if not piece:
                return None
            pieces.append(piece)
            length -= len(piece)
        return b"".join(pieces)

    def _skip(self) -> bool:
        while self._skipped:
            piece = self._stream.read(min(self._skipped, PIECE))
            if not piece:
                return False
            self._skipped -= len(piece)
        return True


class Outbox:
    """Writes in a thread of its own, in order, so that a client that does not read never holds up the event loop.

    When more than `MOST` bytes wait, nothing more is taken and `given_up` is called, once, by whoever wrote.
    """

    def __init__(self, stream: BinaryIO, given_up: Callable[[], None] = lambda: None) -> None:
        self._stream, self._given_up = stream, given_up
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._waiting = 0
        self._counting = threading.Lock()
        self._broken = False
        self._thread = threading.Thread(target=self._pump, name="greenloop-outbox", daemon=True)
        self._thread.start()

    @property
    def behind(self) -> bool:
        """The client does not read: what can be left out had better be."""
        return self._waiting > MUCH

    def write(self, data: bytes) -> int:
        if self._broken:
            return len(data)
        self._count(len(data))
        if self._waiting > MOST:
            log.error("The client does not read: %d bytes wait for it. The connection is given up", self._waiting)
            self._broken = True
            self._given_up()
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
        """The outbox for those who ask for a stream and only write, flush and close it."""
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
