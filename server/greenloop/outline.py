"""The definitions of a text in pieces, so that the next text, a keystroke later, costs the parse of few of them.

It must not know whose text it is.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from greenloop.grammar import Definition, normalised
from greenloop.pieces import Piece, Placed, lower, members_of, split


class Outline:
    """The definitions of a text in pieces, so that a change costs no more than the pieces it touches.

    Pieces know nothing of their place: those behind a change are taken along as they are.
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
        return tuple(lower(item, row) if row else item for item, row in self.placed())

    def placed(self) -> Iterator[tuple[Definition, int]]:
        """Every definition with the lines that stand before those it counts: for who needs few of its lines."""
        for row, piece in zip(self._rows, self._pieces, strict=True):
            yield from piece.placed(row)

    @cached_property
    def classes(self) -> dict[str, Definition]:
        """The classes by qualified name. Their lines mean nothing."""
        return {item.qualname: item for item, _rows in self.placed() if item.kind == "class"}

    @cached_property
    def names(self) -> frozenset[str]:
        """The qualified names of everything that is defined."""
        return frozenset(item.qualname for item, _rows in self.placed())

    def at(self, line: int) -> Definition | None:
        """The innermost definition at a line."""
        index = max(bisect_right(self._rows, line - 1) - 1, 0)
        row, piece, found = self._rows[index], self._pieces[index], None
        near = bisect_right(piece.members, line - 1 - row, key=lambda member: member[1])
        for item, rows in Piece(found=piece.found, members=piece.members[max(near - 1, 0) : near]).placed(row):
            if item.start + rows <= line <= item.end + rows:
                found = lower(item, rows)
        return found

    def line(self, number: int) -> str:
        r"""A line of the text, "" past its end; line ends are as `\n`."""
        index = max(bisect_right(self._rows, number - 1) - 1, 0)
        start, row, members = self._begins[index], self._rows[index], self._pieces[index].members
        near = bisect_right(members, number - 1 - row, key=lambda member: member[1])
        if near:
            start, row = start + members[near - 1][0], row + members[near - 1][1]
        for _row in range(row, number - 1):
            start = self._normal.find("\n", start) + 1
            if not start:
                return ""
        return self._normal[start : self._normal.find("\n", start) + 1 or None]

    def changed(self, text: str) -> Outline:
        """The outline of the next text. Pieces on both sides of the change are taken along: a decorator, an `else`."""
        old, new = self._normal, normalised(text)
        head = _common(old, new, min(len(old), len(new)))
        tail = _common_tail(old, new, min(len(old), len(new)) - head)
        begins, pieces = self._begins, self._pieces
        inside = self._inside(text, new, head, tail)
        if inside is not None:
            return inside
        first = max(0, bisect_right(begins, head) - 2)
        after = bisect_left(begins, len(old) - tail) + 1
        fresh = self._fresh(new, first, after)
        for _more in range(4):
            # What is broken at the edge may belong to the next piece: decorators, the rest of a block.
            below, above = fresh[-1][2].broken and after < len(begins), fresh[0][2].broken and first > 0
            if not (below or above):
                break
            first, after = first - above, after + below
            fresh = self._fresh(new, first, after)
        kept, moved = pieces[:first], pieces[after:]
        here = [piece for piece in (*pieces[first:after], *(each[2] for each in fresh)) if piece.broken]
        there = [piece for piece in (*kept, *moved) if piece.broken]
        if here and there and any(piece.open for piece in (*here, *there)):
            return whole(text)  # A string that is open here may be closed there: only the whole text can tell.
        rows = new.count("\n", head, len(new) - tail) - old.count("\n", head, len(old) - tail)
        return self._with(text, new, first, after, fresh, rows)

    def _with(self, text: str, new: str, first: int, after: int, fresh: Sequence[Placed], rows: int) -> Outline:
        """The pieces `first`..`after` give way to fresh ones; those behind them move by `rows`."""
        shift = len(new) - len(self._normal)
        result = Outline(text, new, fresh)
        result._begins = [*self._begins[:first], *result._begins, *(begin + shift for begin in self._begins[after:])]
        result._rows = [*self._rows[:first], *result._rows, *(row + rows for row in self._rows[after:])]
        result._pieces = [*self._pieces[:first], *result._pieces, *self._pieces[after:]]
        return result

    def _inside(self, text: str, new: str, head: int, tail: int) -> Outline | None:
        """As `changed`, for a change among the members of a large class; None where it may concern more than them."""
        old = self._normal
        index = bisect_right(self._begins, head) - 1
        piece, begin = self._pieces[index], self._begins[index]
        end = self._begins[index + 1] if index + 1 < len(self._begins) else len(old)
        if not piece.members or len(old) - tail >= end:
            return None
        begins = [at for at, _down, _member in piece.members]
        first, after = bisect_right(begins, head - begin) - 2, bisect_left(begins, len(old) - tail - begin) + 1
        if first < 1:
            return None
        top, down, _member = piece.members[first]
        last = begin + begins[after] if after < len(begins) else end
        shift = len(new) - len(old)
        fresh = members_of(new[begin + top : last + shift], piece.found[0].qualname)
        kept, moved = piece.members[:first], piece.members[after:]
        if fresh is None or (fresh[0][2].broken and any(member.broken for *_place, member in (*kept, *moved))):
            return None
        rows = new.count("\n", head, len(new) - tail) - old.count("\n", head, len(old) - tail)
        members = (
            *kept,
            *((top + at, down + row, member) for at, row, member in fresh),
            *((at + shift, row + rows, member) for at, row, member in moved),
        )
        whole = piece.found[0]
        ends = (row + member.bottom for _at, row, member in reversed(members) if member.bottom)
        bottom = whole.end + rows if moved else next(ends, whole.end)
        changed = Piece(
            found=(replace(whole, end=bottom),),
            broken=any(member.broken for *_place, member in members),
            members=members,
        )
        return self._with(text, new, index, index + 1, [(begin, self._rows[index], changed)], rows)

    def _fresh(self, new: str, first: int, after: int) -> list[Placed]:
        """The pieces `first`..`after` anew, as the new text has them."""
        begin, row = self._begins[first], self._rows[first]
        end = self._begins[after] + len(new) - len(self._normal) if after < len(self._begins) else len(new)
        return [(begin + at, row + down, piece) for at, down, piece in split(new[begin:end])]


def whole(text: str) -> Outline:
    normal = normalised(text)
    return Outline(text, normal, split(normal))


def _common(old: str, new: str, most: int) -> int:
    """How many characters the beginnings share."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if old[low:middle] == new[low:middle] else (low, middle - 1)
    return low


def _common_tail(old: str, new: str, most: int) -> int:
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        same = old[len(old) - middle : len(old) - low] == new[len(new) - middle : len(new) - low]
        low, high = (middle, high) if same else (low, middle - 1)
    return low
