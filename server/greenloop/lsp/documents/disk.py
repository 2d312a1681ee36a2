"""Between an editor's texts and files: URIs as paths, reading, line ends and byte order marks, encoding as saved.

It must not know about editors.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from greenloop.core.errors import GreenloopError
from greenloop.core.text.diff import keep_ends, with_plain_ends
from greenloop.core.text.encoding import Encoding, declared_encoding, decode, encode
from greenloop.core.text.uris import path_from_uri

# Maximum bytes of a file that is read.
LONGEST = 64 << 20
_MARK = "\ufeff"


def path_of(uri: str) -> Path | None:
    """The file that a URI names; None for one that is not a file (untitled buffers, notebook cells, nonsense)."""
    try:
        path = path_from_uri(uri) or ""
        encoded = os.fsencode(path)
    except ValueError:
        return None
    file = Path(path)
    return file if file.is_absolute() and b"\0" not in encoded else None


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


def snapshot(texts: Mapping[str, str], root: Path) -> dict[str, bytes]:
    """Every text that differs from its file, in the file's encoding (for new files, in the one they declare).

    Different line ends alone do not count: editors use their own.
    """
    return {
        path: encode_as_saved(text, root / path)
        for path, text in texts.items()
        if not is_same_text(bytes_of(root / path), text)
    }


def encode_as_saved(text: str, path: Path) -> bytes:
    """The bytes that an editor would save, with a byte order mark where the file has one."""
    text = text.removeprefix(_MARK)
    try:
        bom = decode(path.read_bytes())[1].bom
    except (OSError, GreenloopError):
        bom = False
    try:
        return encode(text, Encoding(name=declared_encoding(text).name, bom=bom))
    except GreenloopError:
        # It cannot be saved in the encoding it declares, and Python would not read it: the tests will show that.
        return text.encode("utf-8", "surrogatepass")


def is_same_text(data: bytes | None, text: str) -> bool:
    """True if a file's bytes are this text, whatever their line ends and byte order mark."""
    try:
        return data is not None and with_plain_ends(decode(data)[0]) == normalize(text)
    except GreenloopError:
        return False


def normalize(text: str) -> str:
    """The text as the engine has it, without line end style and byte order mark, which few editors show."""
    return with_plain_ends(text.removeprefix(_MARK))


def restore_style(current: str, text: str) -> str:
    """The text with the line ends and the byte order mark of the current text that it replaces."""
    return keep_ends(current, (_MARK if current.startswith(_MARK) else "") + text)
