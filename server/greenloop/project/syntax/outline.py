"""Incremental outline: a text's definitions in chunks, of which a keystroke re-parses only a few.

This module must not know whose text it is.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property

from greenloop.project.syntax.chunks import Placed, shift_down, split_chunks
from greenloop.project.syntax.tree_sitter import Definition, normalize_text


class Outline:
    """The definitions of a text in chunks, so that a change costs no more than the chunks it touches.

    Chunks do not know their position: those after a change are reused unchanged.
    """

    def __init__(self, text: str, normal: str, placed: Sequence[Placed]) -> None:
        self.text = text
        self._normal = normal
        self._begins = [begin for begin, _row, _piece in placed]
        self._rows = [row for _begin, row, _piece in placed]
        self._pieces = [piece for _begin, _row, piece in placed]

    @cached_property
    def definitions(self) -> tuple[Definition, ...]:
        """Every addressable definition in the order of the text."""
        return tuple(shift_down(item, row) if row else item for item, row in self.placed())

    def placed(self) -> Iterator[tuple[Definition, int]]:
        """Every definition with the number to add to its line numbers, for callers that need few of them."""
        for row, piece in zip(self._rows, self._pieces, strict=True):
            for item in piece.found:
                yield item, row

    @cached_property
    def classes(self) -> dict[str, Definition]:
        """The classes by qualified name. Their line numbers are not valid."""
        return {item.qualname: item for item, _rows in self.placed() if item.kind == "class"}

    @cached_property
    def names(self) -> frozenset[str]:
        """The qualified names of all definitions."""
        return frozenset(item.qualname for item, _rows in self.placed())

    def definition_at(self, line: int) -> Definition | None:
        """The innermost definition at a line."""
        index = max(bisect_right(self._rows, line - 1) - 1, 0)
        row = self._rows[index]
        around = (item for item in reversed(self._pieces[index].found) if item.start + row <= line <= item.end + row)
        innermost = next(around, None)
        return innermost and shift_down(innermost, row)

    def line(self, number: int) -> str:
        r"""A line of the text, "" past its end; line endings are `\n`."""
        index = max(bisect_right(self._rows, number - 1) - 1, 0)
        start, row = self._begins[index], self._rows[index]
        for _row in range(row, number - 1):
            start = self._normal.find("\n", start) + 1
            if not start:
                return ""
        return self._normal[start : self._normal.find("\n", start) + 1 or None]

    def updated(self, text: str) -> Outline:
        """The outline of the next text. Re-parses one more chunk on each side of the change: a decorator, an `else`."""
        old_text, new_text = self._normal, normalize_text(text)
        prefix_length = _common_prefix(old_text, new_text, min(len(old_text), len(new_text)))
        suffix_length = _common_suffix(old_text, new_text, min(len(old_text), len(new_text)) - prefix_length)
        offsets, chunks = self._begins, self._pieces
        first = max(0, bisect_right(offsets, prefix_length) - 2)
        after = bisect_left(offsets, len(old_text) - suffix_length) + 1
        replacement = self._parse_chunks(new_text, first, after)
        for _more in range(4):
            # A broken chunk at the edge may belong to the next one: decorators, the rest of a block.
            extend_down, extend_up = (
                replacement[-1][2].broken and after < len(offsets),
                replacement[0][2].broken and first > 0,
            )
            if not (extend_down or extend_up):
                break
            first, after = first - extend_up, after + extend_down
            replacement = self._parse_chunks(new_text, first, after)
        chunks_before, chunks_after = chunks[:first], chunks[after:]
        changed_broken = [
            piece for piece in (*chunks[first:after], *(placed[2] for placed in replacement)) if piece.broken
        ]
        other_broken = [piece for piece in (*chunks_before, *chunks_after) if piece.broken]
        if changed_broken and other_broken and any(piece.open for piece in (*changed_broken, *other_broken)):
            return parse_outline(text)  # A string opened in one chunk may end in another: parse the whole text.
        result = Outline(text, new_text, replacement)
        offset_shift = len(new_text) - len(old_text)
        row_shift = new_text.count("\n", prefix_length, len(new_text) - suffix_length) - old_text.count(
            "\n", prefix_length, len(old_text) - suffix_length
        )
        result._begins = [*offsets[:first], *result._begins, *(begin + offset_shift for begin in offsets[after:])]
        result._rows = [*self._rows[:first], *result._rows, *(row + row_shift for row in self._rows[after:])]
        result._pieces = [*chunks_before, *result._pieces, *chunks_after]
        return result

    def _parse_chunks(self, new_text: str, first: int, after: int) -> list[Placed]:
        """Parses the chunks `[first:after]` again, in the new text."""
        start, row = self._begins[first], self._rows[first]
        end = self._begins[after] + len(new_text) - len(self._normal) if after < len(self._begins) else len(new_text)
        return [
            (start + offset, row + row_offset, piece) for offset, row_offset, piece in split_chunks(new_text[start:end])
        ]


def parse_outline(text: str) -> Outline:
    """Parses a whole text."""
    normalised_text = normalize_text(text)
    return Outline(text, normalised_text, split_chunks(normalised_text))


def _common_prefix(old: str, new: str, limit: int) -> int:
    """The length of the common prefix."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if old[low:middle] == new[low:middle] else (low, middle - 1)
    return low


def _common_suffix(old: str, new: str, limit: int) -> int:
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        same = old[len(old) - middle : len(old) - low] == new[len(new) - middle : len(new) - low]
        low, high = (middle, high) if same else (low, middle - 1)
    return low
