"""Decodes and encodes Python files without losing a byte: BOM, PEP 263 coding cookie, line ends."""

from __future__ import annotations

import codecs
import io
import re
import tokenize
from dataclasses import dataclass
from pathlib import Path

from greenloop.core.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class Encoding:
    """Encoding of a file: the codec's name, and whether the bytes begin with a UTF-8 byte order mark."""

    name: str = "utf-8"
    bom: bool = False


def decode(data: bytes) -> tuple[str, Encoding]:
    """The text of a Python file and how to write it back.

    Raises `UsageError` when the declared encoding is unknown, does not fit the bytes or cannot give them back.
    """
    encoding = _detect(data)
    body = data[len(codecs.BOM_UTF8) :] if encoding.bom else data
    try:
        text = body.decode(encoding.name)
        round_trip = encode(text, encoding)
    except UnicodeDecodeError as error:
        line = body[: error.start].count(b"\n") + 1
        raise UsageError(
            f"The file is not valid {encoding.name}: byte 0x{body[error.start]:02x} in line {line}.",
            remedy="Save it as UTF-8, or declare its encoding in the first line (# -*- coding: ... -*-).",
        ) from error
    except (LookupError, UnicodeError) as error:
        raise UsageError(f"The file's encoding {encoding.name} is not a text encoding.", remedy=_SAVE) from error
    if round_trip != data:
        raise UsageError(f"The file's encoding {encoding.name} does not round-trip.", remedy=_SAVE)
    return text, encoding


def decode_or_none(data: bytes | None) -> str | None:
    """The text of a file; None where there is none, or it is not text."""
    try:
        return None if data is None else decode(data)[0]
    except UsageError:
        return None


def encode(text: str, encoding: Encoding) -> bytes:
    """The bytes of a text. Raises `UsageError` for a character that the encoding does not have."""
    try:
        body = text.encode(encoding.name)
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        sentence = f"The character {text[error.start]!a} in line {line} does not exist in the file's encoding"
        raise UsageError(f"{sentence} {encoding.name}.", remedy=_SAVE) from error
    return codecs.BOM_UTF8 + body if encoding.bom else body


def declared_encoding(text: str) -> Encoding:
    """The encoding that a text's coding cookie declares; UTF-8 where there is none or it is unknown."""
    head = "\n".join(text.replace("\r\n", "\n").replace("\r", "\n").split("\n")[:2])
    try:
        return Encoding(name=_detect(head.encode("utf-8", "replace")).name)
    except UsageError:
        return Encoding()


def why_not_encodable(text: str, encoding: Encoding) -> str | None:
    """One sentence about the first character that the encoding does not have; None where it has them all."""
    try:
        encode(text, encoding)
    except UsageError as error:
        return str(error)
    return None


def read_or_empty(file: Path, *, most: int = -1) -> str:
    """At most `most` characters of a file as UTF-8; empty where it cannot be read."""
    try:
        with file.open(encoding="utf-8", errors="replace") as stream:
            return stream.read(most)
    except OSError:
        return ""


_SAVE = "Save the file as UTF-8."


def _detect(data: bytes) -> Encoding:
    # Only the first two lines matter; lone carriage returns end lines for Python, but not for readline.
    head = b"\n".join(re.split(rb"\r\n|\r|\n", data, maxsplit=2)[:2])
    try:
        name, _lines = tokenize.detect_encoding(io.BytesIO(head).readline)
        codecs.lookup(name)
    except (SyntaxError, LookupError) as error:
        raise UsageError(f"The file's encoding cannot be determined: {error!s}.", remedy=_SAVE) from error
    bom = name == "utf-8-sig"
    return Encoding(name="utf-8" if bom else name, bom=bom)
