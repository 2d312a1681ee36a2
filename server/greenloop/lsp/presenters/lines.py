"""Where a line of an attempt stands in the user's text as it is now.

Lines are 1-based; 0 says that the user has no such line.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from greenloop.core.diff import flat
from greenloop.core.nouns import Attempt, Case, Problem
from greenloop.lsp import moves
from greenloop.lsp.convert import Line, old_line
from greenloop.lsp.edits import text_of

if TYPE_CHECKING:
    from pathlib import Path

    from greenloop.lsp.server import Server


class Lines:
    """The lines of one attempt, and those of the user's text when its run began, found again."""

    def __init__(self, server: Server, root: Path, problem: Problem, attempt: Attempt) -> None:
        from greenloop.core.compose import compose  # noqa: PLC0415 - only runs need it, not the start

        self._server, self._root, self._problem = server, root, problem
        ran = {**problem.files, **(compose(problem, attempt.candidate) if attempt.candidate else {})}
        originals = problem.originals

        @cache
        def before(path: str) -> Line:
            then, text = originals.get(path), ran.get(path)
            if path in originals and then is None:
                return _nowhere
            if then is None or text is None or then == text:
                return _same
            return old_line(flat(then), flat(text))

        @cache
        def since(path: str) -> Line:
            then, now = originals.get(path), text_of(server, root / path)
            if now is None or (path in originals and then is None):
                return _nowhere
            if then is None or then == now:
                # None: the run did not look at that file, so nobody knows what it was.
                return _same
            was = moves.rows(then)
            move = moves.between(was, moves.rows(now))

            def moved(line: int) -> int:
                row = move(line - 1) if 0 < line <= len(was) else None
                return 0 if row is None else row + 1

            return moved

        self._before, self._since = before, since

    def now(self, path: str, line: int) -> int:
        """A line as the user had it when the run began."""
        return self._since(path)(line) if line else 0

    def has(self, case: Case) -> bool:
        """Whether the user's text still has a case, under its name where that stood at its line."""
        then = self._problem.originals.get(case.path)
        if case.path not in self._problem.originals:
            return True
        line, name = self.now(case.path, case.line), case.id.rsplit("::", 1)[-1].split("[")[0]
        text = text_of(self._server, self._root / case.path)
        if not line or then is None or text is None:
            return False
        return name not in moves.rows(then)[case.line - 1] or name in moves.rows(text)[line - 1]

    def ran(self, path: str, line: int) -> int:
        """A line as the attempt ran it."""
        return self.now(path, self._before(path)(line))

    def nearest(self, path: str, line: int) -> int:
        """The user's line above a line that only the attempt has; 0 where there is none."""
        return next((found for above in range(line, 0, -1) if (found := self.ran(path, above))), 0)


def _same(line: int) -> int:
    return line


def _nowhere(_line: int) -> int:
    return 0
