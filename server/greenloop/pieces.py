"""A text, or a part of one, in pieces: its statements at the top level, and the members of a large class.

It must not know what was parsed before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from greenloop.grammar import Definition, Node, by_tree, end_of, lines, parse
from greenloop.indentation import by_indentation, string_rows


@dataclass(frozen=True, kw_only=True)
class Piece:
    """One statement at the top level and what follows it: what it defines, in lines of its own.

    `open`: it is broken and its triple quotes do not pair, so that it may reach into other pieces.
    A large class has `members`, pieces again, which `found` leaves out; `bottom` is the last line of code in a member.
    """

    found: tuple[Definition, ...]
    broken: bool = False
    open: bool = False
    members: tuple[Placed, ...] = ()
    bottom: int = 0

    def placed(self, row: int) -> Iterator[tuple[Definition, int]]:
        """What it defines, each with the lines before those it counts, for a piece that begins at `row`."""
        for item in self.found:
            yield item, row
        for _begin, down, member in self.members:
            for item in member.found:
                yield item, row + down


# Lines from which on a class is kept in pieces.
LARGE = 100
# Rows at the margin do not always begin a statement (within brackets): so many pieces may be one together.
_JOINED = 3
Placed = tuple[int, int, Piece]  # the character and the row where a piece begins


def lower(item: Definition, rows: int) -> Definition:
    # Written out: `dataclasses.replace` takes four times as long, and a file has a thousand of them.
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


def split(normal: str) -> list[Placed]:
    """The pieces of a text, or of a part of one that begins at the margin."""
    root = parse(normal)
    if not _is_broken(root):
        return _by_nodes(normal, root.children)
    rows = lines(normal)
    starts = _starts(rows)
    if len(starts) == 1:
        return [(0, 0, _broken(normal, rows))]
    offsets = [0, *accumulate(len(line) for line in rows)]
    bounds = [*starts, len(rows)]
    result = []
    index = 0
    while index < len(starts):
        first = bounds[index]
        for several in range(1, min(_JOINED, len(starts) - index) + 1):
            part = normal[offsets[first] : offsets[bounds[index + several]]]
            node = parse(part)
            if not _is_broken(node):
                break
        else:
            several = 1
            part = normal[offsets[first] : offsets[bounds[index + 1]]]
        piece = (
            _broken(part, rows[first : bounds[index + 1]]) if _is_broken(node) else _sound(part, 0, node.children, 0)
        )
        result.append((offsets[first], first, piece))
        index += several
    return result


def _sound(text: str, begin: int, nodes: Sequence[Node], row: int) -> Piece:
    """The piece of `nodes`, which begins at a character and a row of the text."""
    found = tuple(lower(item, -row) if row else item for item in by_tree(nodes, "", typing_only=False))
    if len(nodes) > 1 or not found or found[0].kind != "class" or found[0].end - found[0].start < LARGE:
        return Piece(found=found)
    node = nodes[0].child_by_field_name("definition") or nodes[0]
    body = node.child_by_field_name("body")
    if body is None or body.start_point[0] == node.start_point[0] or not _is_even(body):
        return Piece(found=found)
    return Piece(found=found[:1], members=tuple(_by_rows(text[begin:], body.children, row, found[0].qualname)))


def _by_rows(text: str, nodes: Sequence[Node], row: int, owner: str) -> Iterator[Placed]:
    """The members of a class, of a text that begins at `row`."""
    for offset, down, group in _grouped(text, nodes, row):
        found = by_tree(group, f"{owner}.", typing_only=False)
        bottom = max((end_of(node) for node in group if node.type != "comment"), default=0)
        moved = tuple(lower(item, -row - down) for item in found)
        yield offset, down, Piece(found=moved, bottom=max(bottom - row - down, 0))


def _is_even(body: Node, column: int | None = None) -> bool:
    """Does all of it begin at one column? The parser takes worse for sound, and finds members where there are none."""
    rows: dict[int, int] = {}
    for node in body.children:
        rows.setdefault(node.start_point[0], node.start_point[1])
    return set(rows.values()) <= {body.start_point[1] if column is None else column}


def members_of(part: str, owner: str) -> list[Placed] | None:
    """The members of a class in a part of its body; None where they are not alone in there."""
    head = f"class {owner}:\n"
    root = parse(head + part)
    if not _is_broken(root):
        (node, *more) = root.children
        body = node.child_by_field_name("body")
        alone = body is not None and not more and _is_even(body, len(part) - len(part.lstrip(" \t")))
        return list(_by_rows(part, body.children, 1, owner)) if body is not None and alone else None
    rows = lines(part)
    if _is_open(part) or any(row[0] not in " \t\f\r\n#)]}" for row in rows):
        return None
    whole, *found = by_indentation([head, *rows])
    moved = tuple(lower(item, -1) for item in found)
    return [(0, 0, Piece(found=moved, broken=True, bottom=whole.end - 1))]


def _broken(text: str, rows: Sequence[str]) -> Piece:
    return Piece(found=tuple(by_indentation(rows)), broken=True, open=_is_open(text))


def _is_open(text: str) -> bool:
    return any(text.count(quotes) % 2 for quotes in ('"""', "'''"))


def _by_nodes(normal: str, nodes: Sequence[Node]) -> list[Placed]:
    """The pieces of a text; the first one begins it."""
    result: list[Placed] = []
    for offset, row, group in _grouped(normal, nodes, 0):
        begin, down = (offset, row) if result else (0, 0)
        result.append((begin, down, _sound(normal, begin, group, down)))
    return result or [(0, 0, Piece(found=()))]


def _grouped(text: str, nodes: Sequence[Node], row: int) -> Iterator[tuple[int, int, list[Node]]]:
    """The nodes that begin in one row together, with the place of that row in a text that begins at `row`."""
    groups: dict[int, list[Node]] = {}
    for node in nodes:
        groups.setdefault(node.start_point[0] - row, []).append(node)
    offset = at = 0
    for down, group in groups.items():
        for _row in range(at, down):
            offset = text.index("\n", offset) + 1
        at = down
        yield offset, down, group


def _is_broken(root: Node) -> bool:
    """Does the parser, or its kindness to odd indentation, say that this is no whole Python text?"""
    if root.has_error:
        return True
    last = -1
    for node in root.children:
        row, column = node.start_point
        if column and row != last and node.type != "comment":
            return True
        last = node.end_point[0]
    return False


def _starts(rows: Sequence[str]) -> list[int]:
    """Rows where something at the margin begins, of a text that does not parse as a whole."""
    inside = string_rows(rows)
    starts = [0]
    decorated = False
    for row, line in enumerate(rows):
        if row in inside or line[0] in " \t\f\r\n#)]}" or _CONTINUES.match(line):
            continue
        if row and not decorated:
            starts.append(row)
        decorated = line.startswith("@")
    return starts


_CONTINUES = re.compile(r"(?:else|elif|except|finally)\b")
