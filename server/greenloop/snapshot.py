"""The user's texts at the moment a run began: unsaved buffers win over the disk, and nothing is re-read later.

It must not know what the texts are for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from greenloop.core.encoding import Encoding, decode, encode
from greenloop.sources import read


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """Decoded texts by workspace-relative path, read once; `buffers` are unsaved texts as they would be saved."""

    root: Path
    buffers: Mapping[str, bytes]
    _seen: dict[str, tuple[str, Encoding] | None] = field(default_factory=dict)

    def text(self, path: str) -> str | None:
        """The text of a file, line ends kept; None when there is no such file or it is not text."""
        if path not in self._seen:
            data = read(self.root, path, self.buffers)
            self._seen[path] = None if data is None else decode(data)
        found = self._seen[path]
        return found[0] if found else None

    def encoded(self, path: str, text: str) -> bytes:
        """`text` as the file's own encoding writes it; UTF-8 for a new file."""
        self.text(path)
        found = self._seen[path]
        return encode(text, found[1] if found else Encoding())
