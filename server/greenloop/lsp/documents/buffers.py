"""Encodes unsaved texts as the bytes they would be saved as. It must not know about editors."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from greenloop.core.errors import GreenloopError
from greenloop.core.text.diff import keep_ends, with_plain_ends
from greenloop.core.text.encoding import Encoding, declared_encoding, decode, encode


def snapshot(texts: Mapping[str, str], root: Path) -> dict[str, bytes]:
    """Every text that differs from its file, in the file's encoding (for new files, in the one they declare).

    Different line ends alone do not count: editors use their own.
    """
    return {path: encode_as_saved(text, root / path) for path, text in texts.items() if _differs(text, root / path)}


def encode_as_saved(text: str, path: Path) -> bytes:
    """The bytes that an editor would save, with a byte order mark where the file has one."""
    text = text.removeprefix("\ufeff")
    try:
        bom = decode(path.read_bytes())[1].bom
    except (OSError, GreenloopError):
        bom = False
    try:
        return encode(text, Encoding(name=declared_encoding(text).name, bom=bom))
    except GreenloopError:
        # It cannot be saved in the encoding it declares, and Python would not read it: the tests will show that.
        return text.encode("utf-8", "surrogatepass")


def _differs(text: str, path: Path) -> bool:
    try:
        return with_plain_ends(decode(path.read_bytes())[0]) != with_plain_ends(text.removeprefix("\ufeff"))
    except (OSError, GreenloopError):
        return True


_MARK = "\ufeff"


def normalize(text: str) -> str:
    """The text as the engine has it, without line end style and byte order mark, which few editors show."""
    return with_plain_ends(text.removeprefix(_MARK))


def restore_style(current: str, text: str) -> str:
    """The text with the line ends and the byte order mark of the current text that it replaces."""
    return keep_ends(current, (_MARK if current.startswith(_MARK) else "") + text)
