"""Where the nodes of a module stand in its text, and changes of single places."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from greenloop.core.diff import lines


@dataclass(frozen=True, kw_only=True)
class Edit:
    """`text` takes the place of the characters `start`..`end` (exclusive) of the module; `line` is 1-based."""

    operator: str
    line: int
    start: int
    end: int
    text: str


class Source:
    """A module's text with the places of its nodes as offsets of characters."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tree = ast.parse(text)
        self._rows = lines(text)
        self._starts = [0]
        for row in self._rows:
            self._starts.append(self._starts[-1] + len(row))

    def at(self, line: int, column: int) -> int:
        """`column` counts bytes of UTF-8, as `ast` does."""
        return self._starts[line - 1] + len(self._rows[line - 1].encode()[:column].decode())

    def span(self, node: ast.expr | ast.stmt | ast.arg) -> tuple[int, int]:
        return self.at(node.lineno, node.col_offset), self.at(node.end_lineno or 0, node.end_col_offset or 0)

    def of(self, node: ast.expr | ast.stmt) -> str:
        start, end = self.span(node)
        return self.text[start:end]

    def row(self, line: int) -> tuple[int, int]:
        """A whole line, its end included."""
        return self._starts[line - 1], self._starts[line]


def applied(text: str, *chosen: Edit) -> str:
    """The module with these changes, which must not overlap."""
    for edit in sorted(chosen, key=lambda each: each.start, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text
