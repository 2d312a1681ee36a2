"""Maps lines of an attempt to the user's current text.

Lines are 1-based; 0 means that the user's text has no such line.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from greenloop.core.records.attempt import Attempt
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case
from greenloop.core.text.diff import with_plain_ends
from greenloop.lsp.connection.convert import Line, old_line
from greenloop.lsp.documents import line_mapping
from greenloop.lsp.runs.apply_edit import text_of

if TYPE_CHECKING:
    from pathlib import Path

    from greenloop.lsp.server import Server


class Lines:
    """Maps lines of one attempt, and of the user's text when its run began, to the current text."""

    def __init__(self, server: Server, root: Path, problem: Problem, attempt: Attempt) -> None:
        from greenloop.core.compose import compose  # noqa: PLC0415 - only runs need it, not the start

        self._server, self._root, self._problem = server, root, problem
        attempt_texts = {**problem.files, **(compose(problem, attempt.candidate) if attempt.candidate else {})}
        originals = problem.originals

        @cache
        def to_original(path: str) -> Line:
            original, text = originals.get(path), attempt_texts.get(path)
            if path in originals and original is None:
                return _nowhere
            if original is None or text is None or original == text:
                return _same
            return old_line(with_plain_ends(original), with_plain_ends(text))

        @cache
        def to_current(path: str) -> Line:
            original, current = originals.get(path), text_of(server, root / path)
            if current is None or (path in originals and original is None):
                return _nowhere
            if original is None or original == current:
                # None: the run did not read that file, so its earlier text is not known.
                return _same
            old_rows = line_mapping.rows(original)
            row_map = line_mapping.between(old_rows, line_mapping.rows(current))

            def moved(line: int) -> int:
                row = row_map(line - 1) if 0 < line <= len(old_rows) else None
                return 0 if row is None else row + 1

            return moved

        self._before, self._since = to_original, to_current

    def now(self, path: str, line: int) -> int:
        """The current line for a line of the user's text when the run began."""
        return self._since(path)(line) if line else 0

    def has(self, case: Case) -> bool:
        """Whether the user's text still has a case, with the same name if its line had it before."""
        original = self._problem.originals.get(case.path)
        if case.path not in self._problem.originals:
            return True
        line, name = self.now(case.path, case.line), case.id.rsplit("::", 1)[-1].split("[")[0]
        text = text_of(self._server, self._root / case.path)
        if not line or original is None or text is None:
            return False
        return name not in line_mapping.rows(original)[case.line - 1] or name in line_mapping.rows(text)[line - 1]

    def ran(self, path: str, line: int) -> int:
        """The current line for a line of the text that the attempt ran."""
        return self.now(path, self._before(path)(line))

    def nearest(self, path: str, line: int) -> int:
        """The user's nearest line above a line that only the attempt has; 0 where there is none."""
        return next((user_line for above in range(line, 0, -1) if (user_line := self.ran(path, above))), 0)


def _same(line: int) -> int:
    return line


def _nowhere(_line: int) -> int:
    return 0
