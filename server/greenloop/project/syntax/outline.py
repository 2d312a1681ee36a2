"""Incremental outline: a text's definitions in chunks, of which a keystroke re-parses only a few.

This module must not know whose text it is.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from greenloop.project.syntax.chunks import Chunk, Placed, members_of, shift_down, split_chunks
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
            yield from piece.placed(row)

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
        first_row, chunk, innermost = self._rows[index], self._pieces[index], None
        member_count = bisect_right(chunk.members, line - 1 - first_row, key=lambda member: member[1])
        for item, rows in Chunk(
            found=chunk.found, members=chunk.members[max(member_count - 1, 0) : member_count]
        ).placed(first_row):
            if item.start + rows <= line <= item.end + rows:
                innermost = shift_down(item, rows)
        return innermost

    def line(self, number: int) -> str:
        r"""A line of the text, "" past its end; line endings are `\n`."""
        index = max(bisect_right(self._rows, number - 1) - 1, 0)
        start, row, members = self._begins[index], self._rows[index], self._pieces[index].members
        member_count = bisect_right(members, number - 1 - row, key=lambda member: member[1])
        if member_count:
            start, row = start + members[member_count - 1][0], row + members[member_count - 1][1]
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
        within_class = self._update_class(text, new_text, prefix_length, suffix_length)
        if within_class is not None:
            return within_class
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
        row_shift = new_text.count("\n", prefix_length, len(new_text) - suffix_length) - old_text.count(
            "\n", prefix_length, len(old_text) - suffix_length
        )
        return self._replace_chunks(text, new_text, first, after, replacement, row_shift)

    def _replace_chunks(
        self, text: str, new_text: str, first: int, after: int, replacement: Sequence[Placed], row_shift: int
    ) -> Outline:
        """Replaces the chunks `[first:after]`; the later ones move by `row_shift` rows."""
        offset_shift = len(new_text) - len(self._normal)
        result = Outline(text, new_text, replacement)
        result._begins = [
            *self._begins[:first],
            *result._begins,
            *(begin + offset_shift for begin in self._begins[after:]),
        ]
        result._rows = [*self._rows[:first], *result._rows, *(row + row_shift for row in self._rows[after:])]
        result._pieces = [*self._pieces[:first], *result._pieces, *self._pieces[after:]]
        return result

    def _update_class(self, text: str, new_text: str, prefix_length: int, suffix_length: int) -> Outline | None:
        """As `updated`, for a change among the members of a large class; None if it may affect more than these."""
        old_text = self._normal
        index = bisect_right(self._begins, prefix_length) - 1
        class_chunk, class_start = self._pieces[index], self._begins[index]
        class_end = self._begins[index + 1] if index + 1 < len(self._begins) else len(old_text)
        if not class_chunk.members or len(old_text) - suffix_length >= class_end:
            return None
        offsets = [offset for offset, _down, _member in class_chunk.members]
        first, after = (
            bisect_right(offsets, prefix_length - class_start) - 2,
            bisect_left(offsets, len(old_text) - suffix_length - class_start) + 1,
        )
        if first < 1:
            return None
        first_offset, first_row, _member = class_chunk.members[first]
        last_offset = class_start + offsets[after] if after < len(offsets) else class_end
        offset_shift = len(new_text) - len(old_text)
        replacement = members_of(
            new_text[class_start + first_offset : last_offset + offset_shift], class_chunk.found[0].qualname
        )
        members_before, members_after = class_chunk.members[:first], class_chunk.members[after:]
        if replacement is None or (
            replacement[0][2].broken and any(member.broken for *_place, member in (*members_before, *members_after))
        ):
            return None
        row_shift = new_text.count("\n", prefix_length, len(new_text) - suffix_length) - old_text.count(
            "\n", prefix_length, len(old_text) - suffix_length
        )
        members = (
            *members_before,
            *((first_offset + offset, first_row + row, member) for offset, row, member in replacement),
            *((offset + offset_shift, row + row_shift, member) for offset, row, member in members_after),
        )
        class_definition = class_chunk.found[0]
        member_ends = (row + member.bottom for _at, row, member in reversed(members) if member.bottom)
        end_line = class_definition.end + row_shift if members_after else next(member_ends, class_definition.end)
        new_chunk = Chunk(
            found=(replace(class_definition, end=end_line),),
            broken=any(member.broken for *_place, member in members),
            members=members,
        )
        return self._replace_chunks(
            text, new_text, index, index + 1, [(class_start, self._rows[index], new_chunk)], row_shift
        )

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
