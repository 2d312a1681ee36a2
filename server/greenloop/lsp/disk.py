"""What an editor's names mean on the disk, and the texts of files there."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from greenloop.core.encoding import decode
from greenloop.core.errors import GreenloopError
from greenloop.core.uris import path_from_uri

# Bytes of a file that is read at all.
LONGEST = 64 << 20


def path_of(uri: str) -> Path | None:
    """The file that a URI names; None for what is no file (untitled buffers, notebook cells, nonsense)."""
    try:
        path = path_from_uri(uri) or ""
        named = os.fsencode(path)
    except ValueError:
        return None
    file = Path(path)
    return file if file.is_absolute() and b"\0" not in named else None


def on_disk(path: Path) -> str | None:
    """The text of a file, None where there is none or it cannot be read as text."""
    data = bytes_of(path)
    try:
        return None if data is None else decode(data)[0]
    except GreenloopError:
        return None


def bytes_of(path: Path) -> bytes | None:
    """The bytes of a file; None for what is none, such as a pipe, and for what is far too long to be source."""
    try:
        status = path.stat()
        return path.read_bytes() if stat.S_ISREG(status.st_mode) and status.st_size <= LONGEST else None
    except (OSError, ValueError):
        return None
