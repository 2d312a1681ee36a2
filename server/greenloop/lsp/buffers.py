"""Unsaved texts as the bytes they would be saved as. It must not know of editors: texts by path come in."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from greenloop.core.diff import flat
from greenloop.core.encoding import Encoding, declared, decode, encode
from greenloop.core.errors import GreenloopError


def snapshot(texts: Mapping[str, str], root: Path) -> dict[str, bytes]:
    """Every text that differs from its file, encoded as the file is (new files as they declare themselves).

    A difference in line ends alone is none: editors show a file with ends of their own.
    """
    return {path: encoded(text, root / path) for path, text in texts.items() if _differs(text, root / path)}


def encoded(text: str, path: Path) -> bytes:
    """The bytes that an editor would save, with a byte order mark where the file has one."""
    text = text.removeprefix("\ufeff")
    try:
        bom = decode(path.read_bytes())[1].bom
    except (OSError, GreenloopError):
        bom = False
    try:
        return encode(text, Encoding(name=declared(text).name, bom=bom))
    except GreenloopError:
        # It cannot be saved as it declares itself, and Python would refuse to read it: the tests will say so.
        return text.encode("utf-8", "surrogatepass")


def _differs(text: str, path: Path) -> bool:
    try:
        return flat(decode(path.read_bytes())[0]) != flat(text.removeprefix("\ufeff"))
    except (OSError, GreenloopError):
        return True
