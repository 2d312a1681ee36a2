"""From a changed module back to the cells of the notebook that it was made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from greenloop.core.cells import read
from greenloop.core.diff import Hunk, end_of, hunks, lines, newline_of
from greenloop.core.grid import Cell, Notebook


def landed(notebook: Notebook, before: str, after: str, home: int) -> Notebook | None:
    """The notebook with what changed from `before` to `after` (texts on its grid, or its first rows).

    What belongs to no cell goes above the first change below it, and where there is none, such as for a new function
    at the end, to the top of the cell `home`. None where a change spans several cells.
    """
    rows = [lines(cell.source) for cell in notebook.cells]
    changed: dict[int, list[Hunk]] = {}
    strays: list[tuple[int, str]] = []
    old = lines(before)
    for hunk in hunks(before, after):
        moved, at = _placed(notebook, hunk, old, home)
        if at is None and (_goes_on(hunk) or any(line.strip() for line in old[hunk.start : hunk.end])):
            return None
        if at is None:
            strays.append((moved.start, "".join(moved.lines).strip("\r\n")))
        else:
            first = notebook.firsts[at]
            changed.setdefault(at, []).append(replace(moved, start=moved.start - first, end=moved.end - first))
    for number, found in changed.items():
        rows[number] = _changed(notebook.cells[number], found)
    tops: dict[int, list[str]] = {}
    for row, text in strays:
        # What an import is needed for may run long before `home`.
        at = min((number for number in changed if notebook.firsts[number] >= row), default=home)
        tops.setdefault(at, []).extend([text] if text else [])
    for number, texts in tops.items():
        rows[number] = _on_top(rows[number], "\n\n\n".join(texts)) if texts else rows[number]
    cells = (replace(cell, source="".join(rows[n])) for n, cell in enumerate(notebook.cells))
    return replace(notebook, cells=tuple(cells))


def _placed(notebook: Notebook, hunk: Hunk, old: Sequence[str], home: int) -> tuple[Hunk, int | None]:
    """A change where it lies in a cell, of all places where it would say the same, and that cell; None: in none.

    Blank rows at its ends may as well be those between two cells. What is indented goes on with what stands above it;
    all else stands as low as it may.
    """
    same = _same(hunk, old)
    if _goes_on(hunk):
        for each in same:
            for number, first in enumerate(notebook.firsts):
                if first < each.start <= notebook.end(number):
                    return each, number
        return hunk, None
    for each in reversed(same):
        if (at := _cell_of(notebook, each, home)) is not None:
            return each, at
    return hunk, None


def _same(hunk: Hunk, old: Sequence[str]) -> list[Hunk]:
    """All pure insertions, or deletions, that make the same of the text as this one, the highest first."""
    if hunk.lines and hunk.start < hunk.end:
        return [hunk]
    found, rows = [hunk], list(hunk.lines) or list(old[hunk.start : hunk.end])
    size, start, moved = hunk.end - hunk.start, hunk.start, rows
    while moved and start > 0 and old[start - 1] == moved[-1]:
        start, moved = start - 1, [moved[-1], *moved[:-1]]
        found.insert(0, Hunk(start=start, end=start + size, lines=tuple(moved) if hunk.lines else ()))
    start, moved = hunk.start, rows
    while moved and start + size < len(old) and old[start + size] == moved[0]:
        start, moved = start + 1, [*moved[1:], moved[0]]
        found.append(Hunk(start=start, end=start + size, lines=tuple(moved) if hunk.lines else ()))
    return found


def _goes_on(hunk: Hunk) -> bool:
    """Is it something new that is a part of a statement above it?"""
    first = next((line for line in hunk.lines if line.strip()), "")
    return hunk.start == hunk.end and first[:1].isspace()


def _cell_of(notebook: Notebook, hunk: Hunk, home: int) -> int | None:
    """The cell that a change lies in; an insertion right behind a cell is in it, but for the last one that ran."""
    for number, first in enumerate(notebook.firsts):
        end = notebook.end(number)
        behind = hunk.start == end == hunk.end and number != home
        if first <= hunk.start and hunk.end <= end and (hunk.start < end or behind):
            opaque = (
                notebook.cells[number].source.lstrip().startswith("%%") and not notebook.cells[number].reading.parts
            )
            return None if opaque else number
    return None


def _changed(cell: Cell, found: Sequence[Hunk]) -> list[str]:
    """The rows of a cell with its changes; what a magic was made to comes back as the magic."""
    raw = lines(cell.source) or [""]
    magics = {
        python: own.rstrip("\r\n")
        for python, own in zip(cell.reading.rows, raw, strict=True)
        if python != own.rstrip("\r\n")
    }
    newline, ended = newline_of(cell.source), bool(end_of(raw[-1]))
    rows = [row if end_of(row) else row + newline for row in raw]
    head = _head(raw)
    for hunk in reversed(found):
        fresh = [line.rstrip("\r\n") for line in hunk.lines]
        start = max(hunk.start, head) if hunk.start == hunk.end else hunk.start
        rows[start : max(hunk.end, start)] = [magics.get(line, line) + newline for line in fresh]
    if rows and not ended:
        rows[-1] = rows[-1].rstrip("\r\n")
    return rows


def _on_top(rows: Sequence[str], text: str) -> list[str]:
    """New code before everything else in a cell, but for what must come first."""
    newline, at = newline_of("".join(rows)), _head(rows)
    fresh = [line.rstrip("\r\n") + newline for line in lines(text)]
    rest = list(rows[at:])
    return [*rows[:at], *fresh, *([newline, newline, *rest] if any(row.strip() for row in rest) else [])]


def _head(rows: Sequence[str]) -> int:
    """How many rows of a cell must stay the first ones: a cell magic, imports from `__future__`."""
    first = next((n for n, row in enumerate(rows) if row.strip()), None)
    magic = first + 1 if first is not None and rows[first].startswith("%%") else 0
    return max([magic, *(part.end for part in read("".join(rows)).parts if part.future)])


def changed_cells(old: Notebook, new: Notebook) -> Iterator[tuple[int, str, str]]:
    """Position, text before and text after of each cell that differs."""
    for number, (one, other) in enumerate(zip(old.cells, new.cells, strict=True)):
        if one.source != other.source:
            yield number, one.source, other.source
