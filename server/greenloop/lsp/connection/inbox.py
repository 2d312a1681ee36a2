"""Reads the messages of a stream: header lines, a blank line, the body. It must not know what the bytes mean."""

from __future__ import annotations

import logging
import re
from typing import BinaryIO

# Bytes: maximum of one message, of a header line, and of one read.
LONGEST = 256 << 20
LINE = 64 << 10
PIECE = 1 << 20
_LENGTH = re.compile(rb"content-length\s*:\s*(\d{1,18})\s*$", re.IGNORECASE)

log = logging.getLogger(__name__)


class Inbox:
    """Reads messages from a stream (header lines, a blank line, the body), tolerating sloppy clients.

    Lines may end with LF alone, header names may have any case, and a line that is not a header is skipped.
    """

    def __init__(self, stream: BinaryIO, longest: int = LONGEST) -> None:
        self._stream, self._longest = stream, longest
        self._skipped = 0

    def read(self) -> bytes | None:
        """The next body; empty where it has no usable length or is too long; None when the input ended."""
        try:
            if not self._skip():
                return None
            length = self._length()
            if length is not None and length > self._longest:
                log.error("A message of %d bytes is skipped; at most %d are read", length, self._longest)
                self._skipped = length
                return b""
            return None if length is None else self._body(length)
        except OSError:
            return None

    def _length(self) -> int | None:
        """The length in the headers, 0 without one; None when the input ended."""
        length, any_header = 0, False
        while line := self._stream.readline(LINE):
            if line.strip():
                any_header = True
                # Also after the rest of a message that was longer than its stated length.
                if match := _LENGTH.search(line):
                    length = int(match[1])
            elif any_header:
                return length
        return None

    def _body(self, length: int) -> bytes | None:
        # In chunks: a wrong length must not allocate memory for bytes that never come.
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
