"""The location and message of a failing case, for diagnostics of runs and of test runs alike."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lsprotocol import types as lsp

from greenloop.core.records.verdict import Failure, Frame
from greenloop.core.text.redact import clean_for_display
from greenloop.lsp.connection.convert import line_range
from greenloop.lsp.documents.open_documents import Documents

# Maximum characters of a failure's message in a diagnostic.
LONGEST = 1200

# From (path, line of the text that ran) to the user's line, 0 where there is none.
FindLine = Callable[[str, int], int]


def error_name(failure: Failure) -> str:
    """The name of the failure's class."""
    return failure.type.rsplit(".", 1)[-1]


def describe_failure(failure: Failure, error_name: str) -> str:
    """The message with the error's class and, where known, both sides of the comparison."""
    message = clean_for_display(failure.message).strip()
    text = message if message.startswith(error_name) else f"{error_name}: {message}".rstrip(": ")
    if failure.expected is not None and failure.observed is not None:
        text += f"\nexpected {clean_for_display(failure.expected)}, observed {clean_for_display(failure.observed)}"
    return text[:LONGEST]


def deepest_line(root: Path, failure: Failure | None, find_line: FindLine) -> tuple[str, int] | None:
    """The failure's deepest line in the user's own text."""
    for frame in reversed(failure.frames if failure else ()):
        line = find_line(frame.path, frame.line) if is_own_frame(root, frame) else 0
        if line:
            return frame.path, line
    return None


def is_own_frame(root: Path, frame: Frame) -> bool:
    # A virtual environment in the workspace is not the user's code.
    parts = Path(frame.path).parts
    return not Path(frame.path).is_absolute() and "site-packages" not in parts and (root / frame.path).is_file()


def related(documents: Documents, path: Path, line: int, note: str) -> lsp.DiagnosticRelatedInformation:
    """A line of a file's current text with a note, for a diagnostic."""
    location = documents.location(path, current_range(documents, path, line))
    return lsp.DiagnosticRelatedInformation(location=location, message=clean_for_display(note))


def current_range(documents: Documents, path: Path, line: int) -> lsp.Range:
    """The range of a 1-based line of a file's current text."""
    return line_range(line, documents.text(path) or "", documents.position_codec)
