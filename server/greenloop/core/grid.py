"""The code cells of a notebook on one grid of rows, which its module and its tests share: a line of either is a cell's.

Two blank rows, then the rows of a cell, for each code cell. The tests need the two rows.
This module must not know of files.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from greenloop.core.cells import Kind, Reading, read, rows_of

GAP = 2  # rows before each cell


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One code cell. `label` is its number, which its test is named after; `id` is what the notebook calls it."""

    source: str
    label: int
    id: str = ""

    @cached_property
    def reading(self) -> Reading:
        return read(self.source)

    @property
    def test(self) -> str:
        return f"test_cell_{self.label}"


@dataclass(frozen=True, kw_only=True)
class Place:
    """A row of the grid as people name it: the cell's position (0-based) and its row (0-based)."""

    cell: int
    row: int


@dataclass(frozen=True, kw_only=True)
class Notebook:
    """The code cells of a notebook, and the names of the two files that they become beside it (workspace paths)."""

    path: str
    cells: tuple[Cell, ...]
    module: str
    tests: str

    @property
    def name(self) -> str:
        """What the tests import."""
        return PurePosixPath(self.module).stem

    @cached_property
    def firsts(self) -> tuple[int, ...]:
        """The grid's row (0-based) where each cell begins."""
        result, row = [], 0
        for cell in self.cells:
            result.append(row + GAP)
            row += GAP + len(cell.reading.rows)
        return tuple(result)

    @cached_property
    def text(self) -> str:
        """The grid with the cells as they are, but for line ends."""
        return "".join("\n" * GAP + "".join(row + "\n" for row in rows_of(cell.source)) for cell in self.cells)

    @cached_property
    def python(self) -> str:
        """The grid with the cells as Python."""
        return "".join("\n" * GAP + "".join(row + "\n" for row in cell.reading.rows) for cell in self.cells)

    def end(self, cell: int) -> int:
        """The grid's row behind a cell."""
        return self.firsts[cell] + len(self.cells[cell].reading.rows)

    def place(self, row: int) -> Place | None:
        """Where a row (0-based) of the grid is; a row between two cells belongs to the one below."""
        if not self.cells:
            return None
        cell = next((n for n in reversed(range(len(self.cells))) if self.firsts[n] - GAP <= row), 0)
        return Place(cell=cell, row=min(max(row - self.firsts[cell], 0), len(self.cells[cell].reading.rows) - 1))

    def speaking_of(self, name: str, cell: int) -> int:
        """How far to run for a function of a cell: to the last later cell whose checks name it, else to that cell."""
        last = cell
        for number, other in enumerate(self.cells[cell:], cell):
            checks = [part for part in other.reading.parts if part.kind in (Kind.CHECK, Kind.TEST)]
            if any(name in part.needs for part in checks):
                last = number
        return last


def names(path: str, taken: Sequence[str] = ()) -> tuple[str, str]:
    """Module and test file for a notebook, in its folder; `taken` are names of files there that must not be hidden.

    Two notebooks never share them, and pytest does not take the module for a test file.
    """
    pure = PurePosixPath(path)
    name = pure.name.removesuffix(".ipynb")
    stem = re.sub(r"\W", "_", name, flags=re.ASCII)
    stem = stem if stem.isidentifier() and not stem.startswith("test") else f"nb_{stem}"
    if stem != name:
        stem += "_" + hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:6]
    stem += "_ipynb"
    while f"{stem}.py" in taken or f"test_{stem}.py" in taken:
        stem += "_"
    return str(pure.with_name(f"{stem}.py")), str(pure.with_name(f"test_{stem}.py"))


def split(text: str) -> list[str]:
    """The cells of a text in which two blank rows stand between them, as they do between top-level statements.

    The same rows lie on the grid as in the text, each `GAP` further down.
    """
    rows, inside = rows_of(text), read(text).inside
    starts = [
        n
        for n, row in enumerate(rows)
        if n > GAP and row and not row[0].isspace() and n not in inside and not any(map(str.strip, rows[n - GAP : n]))
    ]
    starts = [0, *starts]
    ends = [*(n - GAP for n in starts[1:]), len(rows)]
    return ["\n".join(rows[start:end]) for start, end in zip(starts, ends, strict=True)]
