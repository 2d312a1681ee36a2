"""Snapshot of the user's texts when a run began; unsaved buffers override the disk.

Nothing is re-read later. This module must not know what the texts are used for.
"""

from __future__ import annotations

from collections.abc import Mapping
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
