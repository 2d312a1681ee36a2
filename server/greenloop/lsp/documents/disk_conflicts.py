"""Detects open files that another program changed on disk since the editor read or wrote them.

A result applied to such a buffer would, once saved, overwrite the other program's change.
It must not know why its callers ask.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from greenloop.lsp.documents.disk import bytes_of, is_same_text


class DiskConflicts:
    """Hashes of each open file's bytes on disk, taken when it was opened or saved.

    `reports_saves`: the editor reports when it saves. Where it does not, conflicts cannot be detected, and none is
    reported.
    """

    def __init__(self) -> None:
        self.reports_saves = False
        self._hashes: dict[Path, bytes | None] = {}
        self._stamps: dict[Path, tuple[int, int] | None] = {}
        self._unknown: set[Path] = set()
        self._closed: set[Path] = set()

    def note_open(self, path: Path) -> None:
        self.mark_known(path)
        self._closed.discard(path)
        self._remember(path)

    def note_save(self, path: Path) -> None:
        self.reports_saves = True
        if path in self._hashes:
            self._remember(path)

    def note_close(self, path: Path) -> None:
        self.mark_known(path)
        self._closed.add(path)
        self._hashes.pop(path, None)
        self._stamps.pop(path, None)

    def note_change(self, path: Path, text: str) -> None:
        """Notes a change of the buffer. If it now equals the disk, the editor reloaded it, which no message reports."""
        if path in self._hashes and _stamp(path) != self._stamps[path] and is_same_text(bytes_of(path), text):
            self._remember(path)

    def mark_unknown(self, path: Path) -> None:
        """Marks the buffer's text as unknown, after a message about it could not be read."""
        self._unknown.add(path)

    def note_change_of_closed(self, path: Path) -> None:
        """Notes a change of a buffer that is not open: late, if it was closed before; else its opening was missed."""
        if path not in self._closed:
            self.mark_unknown(path)

    def mark_known(self, path: Path) -> None:
        """Marks the buffer's text as known: its whole text was received, or it was closed."""
        self._unknown.discard(path)

    def _remember(self, path: Path) -> None:
        # The stamp first: a write between the two reads is then noticed later.
        self._stamps[path] = _stamp(path)
        self._hashes[path] = _hash(bytes_of(path))

    def conflict_reason(self, path: Path, name: str, text: str) -> str:
        """Returns why a file, or its buffer with this text, must not be changed; empty where it may be."""
        if path in self._unknown:
            return f"a change of {name} could not be read; close and reopen the file"
        if not self.reports_saves or path not in self._hashes:
            return ""
        data = bytes_of(path)
        if _hash(data) == self._hashes[path]:
            return ""
        if data is None:
            return f"{name} was deleted on disk; save it first"
        return "" if is_same_text(data, text) else f"{name} changed on disk; reload it first"


def _stamp(path: Path) -> tuple[int, int] | None:
    """Modification time and size, which change with every write; cheap enough for every keystroke."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size


def _hash(data: bytes | None) -> bytes | None:
    return None if data is None else hashlib.blake2b(data, digest_size=16).digest()
