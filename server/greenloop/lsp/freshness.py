"""Whether a file changed on the disk behind the editor: what the editor last read or wrote of each open file.

A result that is put over such a buffer would, once saved, overwrite what somebody else wrote.
It must not know why somebody wants to know.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from greenloop.core.diff import flat
from greenloop.core.encoding import decode
from greenloop.core.errors import GreenloopError
from greenloop.lsp.disk import bytes_of


class Freshness:
    """The disk's bytes, as a hash, when a file was opened or saved.

    `saves`: the editor tells when it saves. Where it does not, nothing can be known, and nothing is said.
    """

    def __init__(self) -> None:
        self.saves = False
        self._seen: dict[Path, bytes | None] = {}
        self._stamps: dict[Path, tuple[int, int] | None] = {}
        self._lost: set[Path] = set()
        self._closed: set[Path] = set()

    def opened(self, path: Path) -> None:
        self.found(path)
        self._closed.discard(path)
        self._see(path)

    def saved(self, path: Path) -> None:
        self.saves = True
        if path in self._seen:
            self._see(path)

    def closed(self, path: Path) -> None:
        self.found(path)
        self._closed.add(path)
        self._seen.pop(path, None)
        self._stamps.pop(path, None)

    def changed(self, path: Path, text: str) -> None:
        """The buffer has another text. Where that is the disk's, the editor has read it anew, which no message says."""
        if path in self._seen and _stamp(path) != self._stamps[path] and _same(bytes_of(path), text):
            self._see(path)

    def lost(self, path: Path) -> None:
        """A message about the buffer could not be read: what it holds is not known."""
        self._lost.add(path)

    def unheard(self, path: Path) -> None:
        """A change came of a buffer that is not open: after its closing it is late, else its opening was not heard."""
        if path not in self._closed:
            self.lost(path)

    def found(self, path: Path) -> None:
        """The whole text of the buffer came, or it was closed."""
        self._lost.discard(path)

    def _see(self, path: Path) -> None:
        # The stamp first: what is written in between is looked at again.
        self._stamps[path] = _stamp(path)
        self._seen[path] = _hashed(bytes_of(path))

    def complaint(self, path: Path, name: str, text: str) -> str:
        """Why a file, or its buffer with this text, must not be changed; empty where it may."""
        if path in self._lost:
            return f"what the editor says of {name} cannot be read; close it and open it again"
        if not self.saves or path not in self._seen:
            return ""
        data = bytes_of(path)
        if _hashed(data) == self._seen[path]:
            return ""
        if data is None:
            return f"{name} was deleted on disk; save it first"
        return "" if _same(data, text) else f"{name} changed on disk; reload it first"


def _same(data: bytes | None, text: str) -> bool:
    try:
        return data is not None and flat(decode(data)[0]) == flat(text.removeprefix("\ufeff"))
    except GreenloopError:
        return False


def _stamp(path: Path) -> tuple[int, int] | None:
    """What is another whenever a file was written; cheap enough for every key."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size


def _hashed(data: bytes | None) -> bytes | None:
    return None if data is None else hashlib.blake2b(data, digest_size=16).digest()
