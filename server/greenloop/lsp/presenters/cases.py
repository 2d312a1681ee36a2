"""A failing case as a diagnostic: where in the user's files it failed, and why; for runs and for checks alike."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from greenloop.core.nouns import Failure, Frame
from greenloop.core.redact import clean
from greenloop.lsp.convert import line_range
from greenloop.lsp.edits import text_of

if TYPE_CHECKING:
    from greenloop.lsp.server import Server

# Characters of a runner's message that a diagnostic shows.
LONGEST = 1200

# From (path, line as it ran) to the user's line, 0 where there is none.
Find = Callable[[str, int], int]


def short(failure: Failure) -> str:
    """The name of the failure's class."""
    return failure.type.rsplit(".", 1)[-1]


def why(failure: Failure, found: str) -> str:
    """The message with its class and, where they are known, the two sides of the comparison."""
    message = clean(failure.message).strip()
    text = message if message.startswith(found) else f"{found}: {message}".rstrip(": ")
    if failure.expected is not None and failure.observed is not None:
        text += f"\nexpected {clean(failure.expected)}, observed {clean(failure.observed)}"
    return text[:LONGEST]


def deepest(root: Path, failure: Failure | None, here: Find) -> tuple[str, int] | None:
    """The deepest line of the failure that stands in the user's own text."""
    for frame in reversed(failure.frames if failure else ()):
        line = here(frame.path, frame.line) if inside(root, frame) else 0
        if line:
            return frame.path, line
    return None


def inside(root: Path, frame: Frame) -> bool:
    # A virtual environment inside the workspace is not the user's own code.
    parts = Path(frame.path).parts
    return not Path(frame.path).is_absolute() and "site-packages" not in parts and (root / frame.path).is_file()


def range_of(server: Server, path: Path, line: int) -> lsp.Range:
    """A 1-based line of a file's text now."""
    return line_range(line, text_of(server, path) or "", server.documents.position_codec)
