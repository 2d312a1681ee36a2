"""One open document with exact lines.

pygls splits lines like `str.splitlines`, also at form feeds, where the protocol does not: an incremental change to
such a file would corrupt it. Here a line ends as in the protocol: at CR, LF or both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lsprotocol import types as lsp
from pygls.workspace import TextDocument

from greenloop.core.text.diff import split_lines


class Document(TextDocument):
    """An open document with the protocol's own lines."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._split: tuple[str, tuple[str, ...]] = ("", ())

    @property
    def lines(self) -> Sequence[str]:
        text = self.source
        if self._split[0] is not text:
            self._split = (text, tuple(split_lines(text)))
        return self._split[1]

    def _apply_incremental_change(self, change: lsp.TextDocumentContentChangePartial) -> None:
        old_lines, rows = self.lines, (change.range.start.line, change.range.end.line)
        start, end = (
            _offset(old_lines, point, self.position_codec) for point in (change.range.start, change.range.end)
        )
        # Only the lines around it are split again. The line before may end in a CR that now gets its line feed.
        first, after = max(min(*rows, len(old_lines)) - 1, 0), max(rows) + 1
        begin = sum(map(len, old_lines[:first]))
        stop = begin + sum(map(len, old_lines[first:after]))
        around = self.source[begin:start] + change.text + self.source[end:stop]
        self._source = self.source[:begin] + around + self.source[stop:]
        self._split = (self._source, (*old_lines[:first], *split_lines(around), *old_lines[after:]))


def _offset(text: Sequence[str], position: lsp.Position, codec: Any) -> int:
    before = sum(map(len, text[: position.line]))
    if position.line >= len(text):
        return before
    units = 0
    line = text[position.line].rstrip("\r\n")
    for index, character in enumerate(line):
        if units >= position.character:
            return before + index
        units += codec.client_num_units(character)
    return before + len(line)
