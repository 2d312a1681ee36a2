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

    def opened(self, path: Path) -> None:
        self._seen[path] = _digest(path)

    def saved(self, path: Path) -> None:
        self.saves = True
        self._seen[path] = _digest(path)

    def closed(self, path: Path) -> None:
        self._seen.pop(path, None)

    def complaint(self, path: Path, name: str, text: str) -> str:
        """Why the buffer `text` of an open file must not be changed; empty where it may."""
        if not self.saves or path not in self._seen:
            return ""
        data = bytes_of(path)
        if _hashed(data) == self._seen[path]:
            return ""
        if data is None:
            return f"{name} was deleted on disk; save it first"
        try:
            same = flat(decode(data)[0]) == flat(text.removeprefix("\ufeff"))
        except GreenloopError:
            same = False
        return "" if same else f"{name} changed on disk; reload it first"


def _digest(path: Path) -> bytes | None:
    return _hashed(bytes_of(path))


def _hashed(data: bytes | None) -> bytes | None:
    return None if data is None else hashlib.blake2b(data, digest_size=16).digest()
