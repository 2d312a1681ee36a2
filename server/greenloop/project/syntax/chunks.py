"""Splits a text into chunks, its top-level statements.

This module must not know what was parsed before.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from greenloop.project.syntax.recovery import definitions_by_indentation, string_rows
from greenloop.project.syntax.tree_sitter import Definition, Node, definitions_in_tree, parse, split_lines


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
