"""Line ends and byte order mark of a text: taken off for the engine, put back for the editor. Pure."""

from __future__ import annotations

from greenloop.core.text.diff import keep_ends, with_plain_ends

_MARK = "\ufeff"


def normalize(text: str) -> str:
    """The text as the engine has it, without line end style and byte order mark, which few editors show."""
    return with_plain_ends(text.removeprefix(_MARK))


def restore_style(current: str, text: str) -> str:
    """The text with the line ends and the byte order mark of the current text that it replaces."""
    return keep_ends(current, (_MARK if current.startswith(_MARK) else "") + text)
