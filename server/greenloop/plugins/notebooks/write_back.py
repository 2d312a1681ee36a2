"""Writes changes of a notebook's module back to the cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from greenloop.core.text.diff import Hunk, diff_hunks, line_end, main_line_end, split_lines
from greenloop.plugins.notebooks.cell_source import read
from greenloop.plugins.notebooks.layout import Cell, Notebook


def write_back(notebook: Notebook, before: str, after: str, default_cell: int) -> Notebook | None:
    """The notebook with the changes from `before` to `after` (texts on its grid, or on its first rows).

    A change outside all cells goes to the top of the first changed cell below it; if there is none, as for a new
    function at the end, to the top of `default_cell`. None if a change spans several cells.
    """
    rows = [split_lines(cell.source) for cell in notebook.cells]
    changed_hunks: dict[int, list[Hunk]] = {}
    outside_cells: list[tuple[int, str]] = []
    old = split_lines(before)
    for hunk in diff_hunks(before, after):
        placed, cell_number = _place_hunk(notebook, hunk, old, default_cell)
        if cell_number is None and (
            _continues_statement(hunk) or any(line.strip() for line in old[hunk.start : hunk.end])
        ):
            return None
        if cell_number is None:
            outside_cells.append((placed.start, "".join(placed.lines).strip("\r\n")))
        else:
            first_row = notebook.first_rows[cell_number]
            changed_hunks.setdefault(cell_number, []).append(
                replace(placed, start=placed.start - first_row, end=placed.end - first_row)
            )
    for number, cell_hunks in changed_hunks.items():
        rows[number] = _apply_to_cell(notebook.cells[number], cell_hunks)
    insertions: dict[int, list[str]] = {}
    for row, text in outside_cells:
        # The code that needs an import may run long before the default cell.
        cell_number = min(
            (number for number in changed_hunks if notebook.first_rows[number] >= row), default=default_cell
        )
        insertions.setdefault(cell_number, []).extend([text] if text else [])
    for number, blocks in insertions.items():
        rows[number] = _prepend(rows[number], "\n\n\n".join(blocks)) if blocks else rows[number]
    cells = (replace(cell, source="".join(rows[n])) for n, cell in enumerate(notebook.cells))
    return replace(notebook, cells=tuple(cells))


def _place_hunk(notebook: Notebook, hunk: Hunk, old: Sequence[str], default_cell: int) -> tuple[Hunk, int | None]:
    """The equivalent position of a change that lies in a cell, and that cell; None if there is none.

    Blank rows at its ends may equally be those between two cells. An indented change continues the statement above it;
    any other is placed as low as possible.
    """
    equivalent = _equivalent_hunks(hunk, old)
    if _continues_statement(hunk):
        for candidate in equivalent:
            for number, first_row in enumerate(notebook.first_rows):
                if first_row < candidate.start <= notebook.end(number):
                    return candidate, number
        return hunk, None
    for candidate in reversed(equivalent):
        if (cell := _find_cell(notebook, candidate, default_cell)) is not None:
            return candidate, cell
    return hunk, None


def _equivalent_hunks(hunk: Hunk, old: Sequence[str]) -> list[Hunk]:
    """All pure insertions or deletions with the same effect on the text as this one, the highest first."""
    if hunk.lines and hunk.start < hunk.end:
        return [hunk]
    equivalent, original_rows = [hunk], list(hunk.lines) or list(old[hunk.start : hunk.end])
    row_count, start, moved = hunk.end - hunk.start, hunk.start, original_rows
    while moved and start > 0 and old[start - 1] == moved[-1]:
        start, moved = start - 1, [moved[-1], *moved[:-1]]
        equivalent.insert(0, Hunk(start=start, end=start + row_count, lines=tuple(moved) if hunk.lines else ()))
    start, moved = hunk.start, original_rows
    while moved and start + row_count < len(old) and old[start + row_count] == moved[0]:
        start, moved = start + 1, [*moved[1:], moved[0]]
        equivalent.append(Hunk(start=start, end=start + row_count, lines=tuple(moved) if hunk.lines else ()))
    return equivalent


def _continues_statement(hunk: Hunk) -> bool:
    """Is it an insertion that continues the statement above it?"""
    first = next((line for line in hunk.lines if line.strip()), "")
    return hunk.start == hunk.end and first[:1].isspace()


def _find_cell(notebook: Notebook, hunk: Hunk, default_cell: int) -> int | None:
    """The cell that contains a change. An insertion right after a cell belongs to it, except to the default cell."""
    for number, first_row in enumerate(notebook.first_rows):
        end = notebook.end(number)
        is_right_after = hunk.start == end == hunk.end and number != default_cell
        if first_row <= hunk.start and hunk.end <= end and (hunk.start < end or is_right_after):
            is_opaque = (
                notebook.cells[number].source.lstrip().startswith("%%") and not notebook.cells[number].parsed.parts
            )
            return None if is_opaque else number
    return None


def _apply_to_cell(cell: Cell, cell_hunks: Sequence[Hunk]) -> list[str]:
    """The rows of a cell with its changes; commented-out magics become magics again."""
    raw = split_lines(cell.source) or [""]
    magic_rows = {
        python_row: source_row.rstrip("\r\n")
        for python_row, source_row in zip(cell.parsed.rows, raw, strict=True)
        if python_row != source_row.rstrip("\r\n")
    }
    newline, ends_with_newline = main_line_end(cell.source), bool(line_end(raw[-1]))
    rows = [row if line_end(row) else row + newline for row in raw]
    fixed_rows = _head_rows(raw)
    for hunk in reversed(cell_hunks):
        new_rows = [line.rstrip("\r\n") for line in hunk.lines]
        start = max(hunk.start, fixed_rows) if hunk.start == hunk.end else hunk.start
        rows[start : max(hunk.end, start)] = [magic_rows.get(line, line) + newline for line in new_rows]
    if rows and not ends_with_newline:
        rows[-1] = rows[-1].rstrip("\r\n")
    return rows


def _prepend(rows: Sequence[str], text: str) -> list[str]:
    """Inserts new code at the top of a cell, below the rows that must come first."""
    newline, fixed_rows = main_line_end("".join(rows)), _head_rows(rows)
    new_rows = [line.rstrip("\r\n") + newline for line in split_lines(text)]
    remaining = list(rows[fixed_rows:])
    return [
        *rows[:fixed_rows],
        *new_rows,
        *([newline, newline, *remaining] if any(row.strip() for row in remaining) else []),
    ]


def _head_rows(rows: Sequence[str]) -> int:
    """The number of rows that must stay first in a cell: a cell magic, imports from `__future__`."""
    first_row = next((n for n, row in enumerate(rows) if row.strip()), None)
    magic_rows = first_row + 1 if first_row is not None and rows[first_row].startswith("%%") else 0
    return max([magic_rows, *(part.end for part in read("".join(rows)).parts if part.is_future_import)])


def changed_cells(old: Notebook, new: Notebook) -> Iterator[tuple[int, str, str]]:
    """The position, old source and new source of each cell that differs."""
    for number, (old_cell, new_cell) in enumerate(zip(old.cells, new.cells, strict=True)):
        if old_cell.source != new_cell.source:
            yield number, old_cell.source, new_cell.source
