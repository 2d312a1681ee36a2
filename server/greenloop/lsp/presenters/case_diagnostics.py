"""The location and message of a failing case, for diagnostics of runs and of test runs alike."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from greenloop.core.records.verdict import Failure, Frame
from greenloop.core.text.redact import clean_for_display
from greenloop.lsp.connection.convert import line_range
from greenloop.lsp.runs.apply_edit import text_of

if TYPE_CHECKING:
    from greenloop.lsp.server import Server

# Maximum characters of a failure's message in a diagnostic.
LONGEST = 1200

# From (path, line of the text that ran) to the user's line, 0 where there is none.
Find = Callable[[str, int], int]


def short(failure: Failure) -> str:
    """The name of the failure's class."""
    return failure.type.rsplit(".", 1)[-1]


def why(failure: Failure, found: str) -> str:
    """The message with the error's class and, where known, both sides of the comparison."""
    message = clean_for_display(failure.message).strip()
    text = message if message.startswith(found) else f"{found}: {message}".rstrip(": ")
    if failure.expected is not None and failure.observed is not None:
        text += f"\nexpected {clean_for_display(failure.expected)}, observed {clean_for_display(failure.observed)}"
    return text[:LONGEST]


def deepest(root: Path, failure: Failure | None, here: Find) -> tuple[str, int] | None:
    """The failure's deepest line in the user's own text."""
    for frame in reversed(failure.frames if failure else ()):
        line = here(frame.path, frame.line) if inside(root, frame) else 0
        if line:
            return frame.path, line
    return None


def inside(root: Path, frame: Frame) -> bool:
    # A virtual environment in the workspace is not the user's code.
    parts = Path(frame.path).parts
    return not Path(frame.path).is_absolute() and "site-packages" not in parts and (root / frame.path).is_file()


def range_of(server: Server, path: Path, line: int) -> lsp.Range:
    """The range of a 1-based line of a file's current text."""
    return line_range(line, text_of(server, path) or "", server.documents.position_codec)
