"""Maps the nodes of a module to its text, and replaces parts of the text."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from greenloop.core.python.ast_source import parse_module_strictly
from greenloop.core.text.diff import split_lines


@dataclass(frozen=True, kw_only=True)
class Edit:
    """Replaces the characters `start`..`end` (exclusive) of a module by `text`; `line` is 1-based.

    `stacked` are the operators of further changes of the same line that `text` has already.
    """

    operator: str
    line: int
    start: int
    end: int
    text: str
    stacked: tuple[str, ...] = ()

    @property
    def operators(self) -> tuple[str, ...]:
        return (self.operator, *self.stacked)


class Source:
    """A module's text with the places of its nodes as character offsets."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tree = parse_module_strictly(text)
        self._rows = split_lines(text)
        self._starts = [0]
        for row in self._rows:
            self._starts.append(self._starts[-1] + len(row))

    def offset(self, line: int, column: int) -> int:
        """The character offset of a place; `column` counts bytes of UTF-8, as `ast` does."""
        return self._starts[line - 1] + len(self._rows[line - 1].encode()[:column].decode())

    def span(self, node: ast.expr | ast.stmt | ast.arg) -> tuple[int, int]:
        return self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno or 0, node.end_col_offset or 0)

    def node_text(self, node: ast.expr | ast.stmt) -> str:
        start, end = self.span(node)
        return self.text[start:end]

    def row(self, line: int) -> tuple[int, int]:
        """Start and end offset of a whole line, its line end included."""
        return self._starts[line - 1], self._starts[line]


def apply_edits(text: str, *chosen: Edit) -> str:
    """The text with these edits applied, which must not overlap."""
    for edit in sorted(chosen, key=lambda each: each.start, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text
