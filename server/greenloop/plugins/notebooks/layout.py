"""Row layout shared by a notebook's module and tests, so that each line of either belongs to a cell.

For each code cell the grid has two blank rows, which the tests need, then the rows of the cell.
This module must not know of files.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from greenloop.plugins.notebooks.cell_source import LineKind, ParsedCell, read, rows_of

GAP_ROWS = 2  # rows before each cell


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One code cell. `label` is its number, used in the name of its test; `id` is its id in the notebook."""

    source: str
    label: int
    id: str = ""

    @cached_property
    def parsed(self) -> ParsedCell:
        return read(self.source)

    @property
    def test(self) -> str:
        return f"test_cell_{self.label}"


@dataclass(frozen=True, kw_only=True)
class CellPosition:
    """A row of the grid as the cell's position (0-based) and the row in the cell (0-based)."""

    cell: int
    row: int


@dataclass(frozen=True, kw_only=True)
class Notebook:
    """The code cells of a notebook, and the workspace paths of the module and test file generated from them."""

    path: str
    cells: tuple[Cell, ...]
    module: str
    tests: str

    @property
    def name(self) -> str:
        """The module name that the tests import."""
        return PurePosixPath(self.module).stem

    @cached_property
    def first_rows(self) -> tuple[int, ...]:
        """The grid row (0-based) where each cell begins."""
        first_rows, row = [], 0
        for cell in self.cells:
            first_rows.append(row + GAP_ROWS)
            row += GAP_ROWS + len(cell.parsed.rows)
        return tuple(first_rows)

    @cached_property
    def text(self) -> str:
        """The grid with the cells' sources, line endings normalised."""
        return "".join("\n" * GAP_ROWS + "".join(row + "\n" for row in rows_of(cell.source)) for cell in self.cells)

    @cached_property
    def python(self) -> str:
        """The grid with the cells' rows as Python."""
        return "".join("\n" * GAP_ROWS + "".join(row + "\n" for row in cell.parsed.rows) for cell in self.cells)

    def end(self, cell: int) -> int:
        """The grid row after a cell."""
        return self.first_rows[cell] + len(self.cells[cell].parsed.rows)

    def position_of(self, row: int) -> CellPosition | None:
        """The position of a grid row (0-based); a row between two cells belongs to the one below."""
        if not self.cells:
            return None
        number = next((n for n in reversed(range(len(self.cells))) if self.first_rows[n] - GAP_ROWS <= row), 0)
        return CellPosition(
            cell=number, row=min(max(row - self.first_rows[number], 0), len(self.cells[number].parsed.rows) - 1)
        )

    def last_cell_testing(self, name: str, cell: int) -> int:
        """The last cell to run for a function: the last one from `cell` on whose checks name it, else `cell`."""
        last = cell
        for number, later_cell in enumerate(self.cells[cell:], cell):
            checks = [part for part in later_cell.parsed.parts if part.kind in (LineKind.CHECK, LineKind.TEST)]
            if any(name in part.needs for part in checks):
                last = number
        return last


def module_names(path: str, taken: Sequence[str] = ()) -> tuple[str, str]:
    """Paths of module and test file for a notebook, in its folder; `taken` are file names there to avoid.

    Two notebooks never share them, and pytest does not collect the module as a test file.
    """
    notebook_path = PurePosixPath(path)
    name = notebook_path.name.removesuffix(".ipynb")
    stem = re.sub(r"\W", "_", name, flags=re.ASCII)
    stem = stem if stem.isidentifier() and not stem.startswith("test") else f"nb_{stem}"
    if stem != name:
        stem += "_" + hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:6]
    stem += "_ipynb"
    while f"{stem}.py" in taken or f"test_{stem}.py" in taken:
        stem += "_"
    return str(notebook_path.with_name(f"{stem}.py")), str(notebook_path.with_name(f"test_{stem}.py"))


def split_cells(text: str) -> list[str]:
    """Splits a text into cells at two blank rows, as between top-level statements.

    The grid has the same rows as the text, each `GAP_ROWS` further down.
    """
    rows, string_rows = rows_of(text), read(text).string_rows
    starts = [
        number
        for number, row in enumerate(rows)
        if number > GAP_ROWS
        and row
        and not row[0].isspace()
        and number not in string_rows
        and not any(map(str.strip, rows[number - GAP_ROWS : number]))
    ]
    starts = [0, *starts]
    ends = [*(number - GAP_ROWS for number in starts[1:]), len(rows)]
    return ["\n".join(rows[start:end]) for start, end in zip(starts, ends, strict=True)]
