"""Snapshot of the user's texts when a run began; unsaved buffers override the disk.

Nothing is re-read later. This module must not know what the texts are used for.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from greenloop.core.errors import UsageError
from greenloop.core.text.encoding import Encoding, decode, encode
from greenloop.project.sources import read_bytes


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """Decoded texts by workspace-relative path, each read once; `buffers` are unsaved texts, encoded as on saving."""

    root: Path
    buffers: Mapping[str, bytes]
    _seen: dict[str, tuple[str, Encoding] | None] = field(default_factory=dict)

    def text(self, path: str) -> str | None:
        """The text of a file with its line endings; None if there is none. Raises `UsageError` if it is not text."""
        if path not in self._seen:
            data = read_bytes(self.root, path, self.buffers)
            self._seen[path] = None if data is None else decode(data)
        decoded = self._seen[path]
        return decoded[0] if decoded else None

    def readable_text(self, path: str, *, keep: bool = True) -> str | None:
        """As `text`; None for a file that is not text, too. Without `keep`, the text is forgotten at once."""
        try:
            if keep or path in self._seen:
                return self.text(path)
            data = read_bytes(self.root, path, self.buffers)
            return None if data is None else decode(data)[0]
        except UsageError:
            return None

    def with_text(self, path: str, text: str) -> Snapshot:
        """The same texts but for this one, as if it were an unsaved buffer."""
        seen = {other: found for other, found in self._seen.items() if other != path}
        return Snapshot(root=self.root, buffers={**self.buffers, path: self.encoded(path, text)}, _seen=seen)

    def encoded(self, path: str, text: str) -> bytes:
        """`text` in the file's own encoding; UTF-8 for a new file."""
        self.text(path)
        decoded = self._seen[path]
        return encode(text, decoded[1] if decoded else Encoding())


# -- has any file changed? --------------------------------------------------------------------------------------------


MOST = 50_000  # files and folders; looking at more takes longer than it saves
_CACHES = frozenset({".git", ".hg", ".mypy_cache", ".pytest_cache", ".ruff_cache", "__pycache__", "node_modules"})

Stamps = frozenset[tuple[str, int, int, int]]


def read_stamps(folders: Iterable[Path], most: int = MOST) -> Stamps | None:
    """Returns what identifies the state of all files in these folders; None where there are too many.

    Caches, virtual environments and the history of version control are left out. Blocking: use a thread.
    """
    found: set[tuple[str, int, int, int]] = set()
    for stamp in (each for folder in folders for each in _walk(str(folder))):
        found.add(stamp)
        if len(found) > most:
            return None
    return frozenset(found)


def _walk(root: str) -> Iterator[tuple[str, int, int, int]]:
    pending = [root]
    while pending:
        try:
            entries = list(os.scandir(pending.pop()))
        except OSError:
            continue
        if any(entry.name == "pyvenv.cfg" for entry in entries):
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in _CACHES:
                    pending.append(entry.path)
                continue
            try:
                status = entry.stat()
            except OSError:
                continue
            yield entry.path, status.st_mtime_ns, status.st_size, status.st_ino
