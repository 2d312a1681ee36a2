"""Maps an editor's URIs to paths, and reads files."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from greenloop.core.errors import GreenloopError
from greenloop.core.text.encoding import decode
from greenloop.core.text.uris import path_from_uri

# Maximum bytes of a file that is read.
LONGEST = 64 << 20


def path_of(uri: str) -> Path | None:
    """The file that a URI names; None for one that is not a file (untitled buffers, notebook cells, nonsense)."""
    try:
        path = path_from_uri(uri) or ""
        encode_as_saved = os.fsencode(path)
    except ValueError:
        return None
    file = Path(path)
    return file if file.is_absolute() and b"\0" not in encode_as_saved else None


def on_disk(path: Path) -> str | None:
    """The text of a file; None where it does not exist or cannot be read as text."""
    data = bytes_of(path)
    try:
        return None if data is None else decode(data)[0]
    except GreenloopError:
        return None


def bytes_of(path: Path) -> bytes | None:
    """The bytes of a regular file; None for anything else, such as a pipe, and for a file too long to be source."""
    try:
        status = path.stat()
        return path.read_bytes() if stat.S_ISREG(status.st_mode) and status.st_size <= LONGEST else None
    except (OSError, ValueError):
        return None
