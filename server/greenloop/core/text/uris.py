"""Converts between file URIs and paths, for POSIX and Windows, as pure functions of text.

Editors write the same file in several ways (`file:///c%3A/x`, `file:///C:/x`); these functions make them equal.
"""

from __future__ import annotations

import os
import re
from urllib.parse import quote, unquote, urlsplit

_DRIVE = re.compile(r"^/?([A-Za-z])[:|](?=$|[/\\])")


def path_from_uri(uri: str, *, windows: bool = os.name == "nt") -> str | None:
    """The path that a `file:` URI names; None for any other scheme (`untitled:`, `vscode-notebook-cell:`).

    On Windows: backslashes, an upper-case drive letter, and `//server/share` for a host.
    """
    parts = urlsplit(uri, allow_fragments=False)
    if parts.scheme.lower() != "file":
        return None
    # A raw `?` is part of the name that a sloppy client did not quote: file URIs have no queries.
    raw = parts.path + (f"?{parts.query}" if parts.query else "")
    path = unquote(raw, errors="surrogateescape")
    host = unquote(parts.netloc)
    if not windows:
        return path
    if drive := _DRIVE.match(path):
        return (drive[1].upper() + ":" + (path[drive.end() :] or "/")).replace("/", "\\")
    if host and host.lower() != "localhost":
        return f"\\\\{host}{path}".replace("/", "\\")
    return path.replace("/", "\\")


def uri_from_path(path: str | os.PathLike[str], *, windows: bool = os.name == "nt") -> str:
    """The `file:` URI of an absolute path. Raises `ValueError` for a relative one."""
    text = os.fspath(path)
    if windows:
        text = text.replace("\\", "/")
        text = re.sub(r"^//[?.]/(?:UNC/)?", lambda match: "//" if "UNC" in match[0] else "", text)
        if text.startswith("//"):
            return "file:" + _quote(text)
        if drive := _DRIVE.match(text):
            return f"file:///{drive[1].upper()}:" + _quote(text[drive.end() :] or "/")
    if not text.startswith("/"):
        raise ValueError(f"'{path}' is not an absolute path")
    return "file://" + _quote(text)


def _quote(path: str) -> str:
    return quote(path.encode("utf-8", "surrogateescape"), safe="/-._~!$&'()*+,;=:@")
