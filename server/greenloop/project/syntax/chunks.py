"""Splits a text into chunks: its top-level statements, and the members of large classes.

This module must not know what was parsed before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from greenloop.project.syntax.recovery import definitions_by_indentation, string_rows
from greenloop.project.syntax.tree_sitter import Definition, Node, definitions_in_tree, last_line, parse, split_lines


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """A top-level statement with the text up to the next one; line numbers count from the chunk's first line.

    `has_open_string`: it is broken and its triple quotes do not pair, so that it may extend into other chunks.
    A large class has `members`, which are chunks too and not among its `definitions`; `last_code_line` is that of a
    member.
    """

    found: tuple[Definition, ...]
    broken: bool = False
    open: bool = False
    members: tuple[Placed, ...] = ()
    bottom: int = 0

    def placed(self, row: int) -> Iterator[tuple[Definition, int]]:
        """Its definitions, each with the number to add to its line numbers, for a chunk that begins at `row`."""
        for item in self.found:
            yield item, row
        for _begin, offset, member in self.members:
            for item in member.found:
                yield item, row + offset


# Lines from which on a class is split into chunks.
LARGE = 100
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
            else _make_chunk(chunk_text, 0, tree.children, 0)
        )
        result.append((offsets[start], start, chunk))
        index += joined
    return result


def _make_chunk(text: str, start: int, nodes: Sequence[Node], row: int) -> Chunk:
    """The chunk of `nodes`, which begins at this character and row of the text."""
    definitions = tuple(
        shift_down(item, -row) if row else item for item in definitions_in_tree(nodes, "", typing_only=False)
    )
    if (
        len(nodes) > 1
        or not definitions
        or definitions[0].kind != "class"
        or definitions[0].end - definitions[0].start < LARGE
    ):
        return Chunk(found=definitions)
    node = nodes[0].child_by_field_name("definition") or nodes[0]
    body = node.child_by_field_name("body")
    if body is None or body.start_point[0] == node.start_point[0] or not _is_even(body):
        return Chunk(found=definitions)
    return Chunk(
        found=definitions[:1], members=tuple(_by_rows(text[start:], body.children, row, definitions[0].qualname))
    )


def _by_rows(text: str, nodes: Sequence[Node], row: int, owner: str) -> Iterator[Placed]:
    """The members of a class, in a text that begins at `row`."""
    for offset, row_offset, group in _grouped(text, nodes, row):
        definitions = definitions_in_tree(group, f"{owner}.", typing_only=False)
        last_code_row = max((last_line(node) for node in group if node.type != "comment"), default=0)
        relative_definitions = tuple(shift_down(item, -row - row_offset) for item in definitions)
        yield offset, row_offset, Chunk(found=relative_definitions, bottom=max(last_code_row - row - row_offset, 0))


def _is_even(body: Node, column: int | None = None) -> bool:
    """Do all statements begin at one column? The parser accepts others too, and finds members that do not exist."""
    rows: dict[int, int] = {}
    for node in body.children:
        rows.setdefault(node.start_point[0], node.start_point[1])
    return set(rows.values()) <= {body.start_point[1] if column is None else column}


def members_of(part: str, owner: str) -> list[Placed] | None:
    """The members of a class in a part of its body; None if that part contains anything else."""
    header = f"class {owner}:\n"
    tree = parse(header + part)
    if not _is_broken(tree):
        (node, *others) = tree.children
        body = node.child_by_field_name("body")
        is_complete = body is not None and not others and _is_even(body, len(part) - len(part.lstrip(" \t")))
        return list(_by_rows(part, body.children, 1, owner)) if body is not None and is_complete else None
    rows = split_lines(part)
    if _is_open(part) or any(row[0] not in " \t\f\r\n#)]}" for row in rows):
        return None
    class_definition, *inner_definitions = definitions_by_indentation([header, *rows])
    relative_definitions = tuple(shift_down(item, -1) for item in inner_definitions)
    return [(0, 0, Chunk(found=relative_definitions, broken=True, bottom=class_definition.end - 1))]


def _make_broken_chunk(text: str, rows: Sequence[str]) -> Chunk:
    return Chunk(found=tuple(definitions_by_indentation(rows)), broken=True, open=_is_open(text))


def _is_open(text: str) -> bool:
    return any(text.count(quotes) % 2 for quotes in ('"""', "'''"))


def _by_nodes(normalised_text: str, nodes: Sequence[Node]) -> list[Placed]:
    """The chunks of a text; the first one begins at its start."""
    result: list[Placed] = []
    for offset, row, group in _grouped(normalised_text, nodes, 0):
        start, first_row = (offset, row) if result else (0, 0)
        result.append((start, first_row, _make_chunk(normalised_text, start, group, first_row)))
    return result or [(0, 0, Chunk(found=()))]


def _grouped(text: str, nodes: Sequence[Node], row: int) -> Iterator[tuple[int, int, list[Node]]]:
    """Groups nodes that begin in the same row, with the offset and row in a text that begins at `row`."""
    groups: dict[int, list[Node]] = {}
    for node in nodes:
        groups.setdefault(node.start_point[0] - row, []).append(node)
    offset = current_row = 0
    for row_offset, group in groups.items():
        for _row in range(current_row, row_offset):
            offset = text.index("\n", offset) + 1
        current_row = row_offset
        yield offset, row_offset, group


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
