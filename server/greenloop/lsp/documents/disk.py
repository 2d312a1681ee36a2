"""Between an editor's texts and files: URIs as paths, reading, line ends and byte order marks, encoding as saved.

It must not know about editors.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from greenloop.core.errors import GreenloopError
from greenloop.core.text.diff import keep_ends, with_plain_ends
from greenloop.core.text.encoding import Encoding, declared_encoding, decode, decode_or_none, encode
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
    return decode_or_none(bytes_of(path))


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
    known = decode_or_none(data)
    return known is not None and with_plain_ends(known) == normalize(text)


def normalize(text: str) -> str:
    """The text as the engine has it, without line end style and byte order mark, which few editors show."""
    return with_plain_ends(text.removeprefix(_MARK))


def restore_style(current: str, text: str) -> str:
    """The text with the line ends and the byte order mark of the current text that it replaces."""
    return keep_ends(current, (_MARK if current.startswith(_MARK) else "") + text)


# -- files that other programs change ---------------------------------------------------------------------------------


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
