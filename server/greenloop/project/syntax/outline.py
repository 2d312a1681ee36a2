"""Incremental outline: a text's definitions in chunks, of which a keystroke re-parses only a few.

This module must not know whose text it is.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from greenloop.project.syntax.recovery import definitions_by_indentation, string_rows
from greenloop.project.syntax.tree_sitter import (
    Definition,
    Node,
    definitions_in_tree,
    normalize_text,
    parse,
    split_lines,
)


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


# -- chunks -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """A top-level statement with the text up to the next one; line numbers count from the chunk's first line.

    `open`: it is broken and its triple quotes do not pair, so that it may extend into other chunks.
    """

    found: tuple[Definition, ...]
    broken: bool = False
    open: bool = False


# Unindented rows do not always begin a statement (inside brackets): up to so many chunks are parsed as one.
_JOINED = 3
Placed = tuple[int, int, Chunk]  # the character offset and the row where a chunk begins


def shift_down(item: Definition, rows: int) -> Definition:
    """The definition with `rows` added to all line numbers."""
    # Written out: `dataclasses.replace` takes four times as long, and a file may have a thousand definitions.
    return Definition(
        kind=item.kind,
        name=item.name,
        qualname=item.qualname,
        start=item.start + rows,
        end=item.end + rows,
        name_line=item.name_line + rows,
        header_end=item.header_end + rows,
        bases=item.bases,
        decorators=item.decorators,
        docstring=(item.docstring[0] + rows, item.docstring[1] + rows) if item.docstring else None,
        examples=item.examples,
        typing_only=item.typing_only,
        asynchronous=item.asynchronous,
    )


def split_chunks(normal: str) -> list[Placed]:
    """The chunks of a text, or of a part of one that begins unindented."""
    root = parse(normal)
    if not _is_broken(root):
        return _by_nodes(normal, root.children)
    rows = split_lines(normal)
    statement_rows = _starts(rows)
    if len(statement_rows) == 1:
        return [(0, 0, _make_broken_chunk(normal, rows))]
    offsets = [0, *accumulate(len(line) for line in rows)]
    bounds = [*statement_rows, len(rows)]
    result = []
    index = 0
    while index < len(statement_rows):
        start = bounds[index]
        for joined in range(1, min(_JOINED, len(statement_rows) - index) + 1):
            chunk_text = normal[offsets[start] : offsets[bounds[index + joined]]]
            tree = parse(chunk_text)
            if not _is_broken(tree):
                break
        else:
            joined = 1
            chunk_text = normal[offsets[start] : offsets[bounds[index + 1]]]
        chunk = (
            _make_broken_chunk(chunk_text, rows[start : bounds[index + 1]])
            if _is_broken(tree)
            else _make_chunk(tree.children, 0)
        )
        result.append((offsets[start], start, chunk))
        index += joined
    return result


def _make_chunk(nodes: Sequence[Node], row: int) -> Chunk:
    """The chunk of `nodes`, which begins at this row of the text."""
    listed = definitions_in_tree(nodes, "", typing_only=False)
    return Chunk(found=tuple(shift_down(item, -row) if row else item for item in listed))


def _make_broken_chunk(text: str, rows: Sequence[str]) -> Chunk:
    is_open = any(text.count(quotes) % 2 for quotes in ('"""', "'''"))
    return Chunk(found=tuple(definitions_by_indentation(rows)), broken=True, open=is_open)


def _by_nodes(normalised_text: str, nodes: Sequence[Node]) -> list[Placed]:
    """The chunks of a text: nodes that begin in the same row; the first one begins at its start."""
    groups: dict[int, list[Node]] = {}
    for node in nodes:
        groups.setdefault(node.start_point[0], []).append(node)
    result: list[Placed] = []
    offset = current_row = 0
    for row, group in groups.items():
        for _row in range(current_row, row):
            offset = normalised_text.index("\n", offset) + 1
        current_row = row
        start, first_row = (offset, row) if result else (0, 0)
        result.append((start, first_row, _make_chunk(group, first_row)))
    return result or [(0, 0, Chunk(found=()))]


def _is_broken(root: Node) -> bool:
    """Does the text have syntax errors, or odd indentation, which the parser accepts?"""
    if root.has_error:
        return True
    last_row = -1
    for node in root.children:
        row, column = node.start_point
        if column and row != last_row and node.type != "comment":
            return True
        last_row = node.end_point[0]
    return False


def _starts(rows: Sequence[str]) -> list[int]:
    """Rows where an unindented statement begins, in a text that does not parse as a whole."""
    string_lines = string_rows(rows)
    statement_rows = [0]
    after_decorator = False
    for row, line in enumerate(rows):
        if row in string_lines or line[0] in " \t\f\r\n#)]}" or _CONTINUES.match(line):
            continue
        if row and not after_decorator:
            statement_rows.append(row)
        after_decorator = line.startswith("@")
    return statement_rows


_CONTINUES = re.compile(r"(?:else|elif|except|finally)\b")
