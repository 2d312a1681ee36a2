"""The location and message of a failing case, for diagnostics of runs and of test runs alike."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

from lsprotocol import types as lsp

from greenloop.core.classify import is_of_workspace
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case
from greenloop.core.text.diff import with_plain_ends
from greenloop.core.text.redact import clean_for_display
from greenloop.lsp.connection.convert import LineMap, line_range, old_line
from greenloop.lsp.documents import line_mapping
from greenloop.lsp.documents.open_documents import Documents
from greenloop_sandbox import Failure, Frame

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
    return is_of_workspace(frame) and (root / frame.path).is_file()


def related(documents: Documents, path: Path, line: int, note: str) -> lsp.DiagnosticRelatedInformation:
    """A line of a file's current text with a note, for a diagnostic."""
    location = documents.location(path, current_range(documents, path, line))
    return lsp.DiagnosticRelatedInformation(location=location, message=clean_for_display(note))


def current_range(documents: Documents, path: Path, line: int) -> lsp.Range:
    """The range of a 1-based line of a file's current text."""
    return line_range(line, documents.text(path) or "", documents.position_codec)


class AttemptLines:
    """Maps lines of one attempt, and of the user's text when its run began, to the current text."""

    def __init__(self, documents: Documents, root: Path, problem: Problem, attempt: Attempt) -> None:
        from greenloop.core.compose import compose  # noqa: PLC0415 - only runs need it, not the start

        self._documents, self._root, self._problem = documents, root, problem
        attempt_texts = {**problem.files, **(compose(problem, attempt.candidate) if attempt.candidate else {})}
        originals = {**(attempt.candidate.originals if attempt.candidate else {}), **problem.originals}

        @cache
        def to_original(path: str) -> LineMap:
            original, text = originals.get(path), attempt_texts.get(path)
            if path in originals and original is None:
                return _nowhere
            if original is None or text is None or original == text:
                return _identity
            return old_line(with_plain_ends(original), with_plain_ends(text))

        @cache
        def to_current(path: str) -> LineMap:
            original, current = originals.get(path), documents.text(root / path)
            if current is None or (path in originals and original is None):
                return _nowhere
            if original is None or original == current:
                # None: the run did not read that file, so its earlier text is not known.
                return _identity
            old_rows = line_mapping.split_rows(original)
            new_row = line_mapping.map_rows(old_rows, line_mapping.split_rows(current))

            def new_line(line: int) -> int:
                row = new_row(line - 1) if 0 < line <= len(old_rows) else None
                return 0 if row is None else row + 1

            return new_line

        self._to_original, self._to_current = to_original, to_current

    def current_line(self, path: str, line: int) -> int:
        """The current line for a line of the user's text when the run began."""
        return self._to_current(path)(line) if line else 0

    def still_has(self, case: Case) -> bool:
        """True if the user's text still has a case, with the same name if its line had it before."""
        original = self._problem.originals.get(case.path)
        if case.path not in self._problem.originals:
            return True
        line, name = self.current_line(case.path, case.line), case.id.rsplit("::", 1)[-1].split("[")[0]
        text = self._documents.text(self._root / case.path)
        if not line or original is None or text is None:
            return False
        return (
            name not in line_mapping.split_rows(original)[case.line - 1]
            or name in line_mapping.split_rows(text)[line - 1]
        )

    def line_of_attempt(self, path: str, line: int) -> int:
        """The current line for a line of the text that the attempt ran."""
        return self.current_line(path, self._to_original(path)(line))

    def nearest_line(self, path: str, line: int) -> int:
        """The user's nearest line above a line that only the attempt has; 0 where there is none."""
        return next((user_line for above in range(line, 0, -1) if (user_line := self.line_of_attempt(path, above))), 0)


def _identity(line: int) -> int:
    return line


def _nowhere(_line: int) -> int:
    return 0
