"""A notebook as a module and its tests: code cells one after another, and the way back from a changed module to cells.

Everything shares one grid of rows: two blank rows, then the rows of a cell, for each code cell. The module and the
tests have their text in the same rows, so that a line of either is a line of a cell. The tests need the two rows.
This module must not know of files.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePosixPath

from greenloop.core.cells import WAIT, Kind, Part, Reading, read, rows_of
from greenloop.core.diff import Hunk, end_of, hunks, lines, newline_of

GAP = 2  # rows before each cell
INDENT = "    "

# What Jupyter puts there and Python does not, each for those who use it.
_JUPYTER = {
    "display": "display = print",
    "get_ipython": 'get_ipython = __import__("unittest.mock", fromlist=["mock"]).MagicMock()',
    WAIT: f'{WAIT} = __import__("asyncio").new_event_loop().run_until_complete',
}


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

    def defines(self, name: str) -> int | None:
        """The last cell that binds a name at its top level."""
        found = [n for n, cell in enumerate(self.cells) if any(name in part.binds for part in cell.reading.parts)]
        return found[-1] if found else None

    def speaking_of(self, name: str, cell: int) -> int:
        """How far to run for a function of a cell: to the last later cell whose checks name it, else to that cell."""
        last = cell
        for number, other in enumerate(self.cells[cell:], cell):
            checks = [part for part in other.reading.parts if part.kind in (Kind.CHECK, Kind.TEST)]
            if any(name in part.needs for part in checks):
                last = number
        return last


def names(path: str, taken: Sequence[str] = ()) -> tuple[str, str]:
    """Module and test file for a notebook, in its folder; `taken` are names of files there that must not be hidden."""
    pure = PurePosixPath(path)
    stem = re.sub(r"\W", "_", pure.name.removesuffix(".ipynb"), flags=re.ASCII) + "_ipynb"
    stem = stem if stem.isidentifier() else f"nb_{stem}"
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


def named(notebook: Notebook, text: str) -> str:
    """A text for people, with lines of the module and of the tests as rows of cells, and tests as cells."""

    def cell(found: re.Match[str]) -> str:
        place = notebook.place(int(found[1]) - 1)
        return found[0] if place is None else f"{notebook.path} cell {place.cell + 1} row {place.row + 1}"

    for path in (notebook.tests, notebook.module):
        text = re.sub(rf"\b{re.escape(path)}:(\d+)", cell, text)
    labels = {each.test: number + 1 for number, each in enumerate(notebook.cells)}
    tests = re.compile(rf"\b{re.escape(notebook.tests)}::(\w+)")
    text = tests.sub(
        lambda m: f"{notebook.path}:{labels[m[1]]}" if m[1] in labels else f"{notebook.path}::{m[1]}", text
    )
    return text.replace(notebook.tests, notebook.path).replace(notebook.module, notebook.path)


# -- as a module and its tests --------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Composed:
    """What runs for a target: the cells up to `last` (0-based), as a module and as a test file."""

    notebook: Notebook
    last: int
    module: str
    tests: str


def compose(notebook: Notebook, last: int) -> Composed:
    """The cells up to `last`: what they define and do is the module, what they check is a test for each cell."""
    kept = [_kept(notebook, number, last) for number in range(last + 1)]
    module: list[str] = []
    tests: list[str] = []
    bound = {name for n, parts in enumerate(kept) for part in parts for name in part.binds} | set(_JUPYTER)
    future: list[str] = []
    for number in range(last + 1):
        cell = notebook.cells[number]
        rows = list(cell.reading.rows)
        if not cell.reading.broken:
            inside = {row for part in kept[number] for row in range(part.start, part.end)}
            for part in cell.reading.parts:
                if part.future and part in kept[number]:
                    future.append(" ".join(row.strip("\\ ") for row in rows[part.start : part.end]))
                    inside -= set(range(part.start, part.end))
            code = {row for part in cell.reading.parts for row in range(part.start, part.end)}
            rows = [row if n in inside or n not in code else f"# {row}".rstrip() for n, row in enumerate(rows)]
        module += ["", "", *rows]
        tests += _test(notebook, cell, bound)
    uses = {name for n in range(last + 1) for part in notebook.cells[n].reading.parts for name in part.needs}
    defined = {name for parts in kept for part in parts for name in part.binds}
    head = [*future, *_folder(notebook), *(text for name, text in _JUPYTER.items() if name in uses - defined)]
    if module:
        module[0] = "; ".join(head)
    return Composed(notebook=notebook, last=last, module=_joined(module), tests=_joined(tests))


def _joined(rows: Sequence[str]) -> str:
    return "".join(row + "\n" for row in rows)


def _folder(notebook: Notebook) -> list[str]:
    """Jupyter runs a notebook in its own folder."""
    if str(PurePosixPath(notebook.path).parent) == ".":
        return []
    return ['__import__("os").chdir(__import__("os").path.dirname(__import__("os").path.abspath(__file__)))']


def _kept(notebook: Notebook, number: int, last: int) -> list[Part]:
    """What of a cell goes into the module.

    That is everything but checks and tests; in a cell that has such, of the other statements only definitions,
    imports, and what later cells take from it.
    """
    reading = notebook.cells[number].reading
    if not reading.checks and not reading.tests:
        return list(reading.parts)
    later = {
        name for n in range(number + 1, last + 1) for part in notebook.cells[n].reading.parts for name in part.needs
    }
    return [
        part
        for part in reading.parts
        if part.kind in (Kind.IMPORT, Kind.DEFINE) or (part.kind is Kind.OTHER and part.binds & later)
    ]


def _test(notebook: Notebook, cell: Cell, bound: set[str]) -> list[str]:
    """The rows of a cell in the test file, the two before it included."""
    reading = cell.reading
    if reading.broken or not (reading.checks or reading.tests):
        return [""] * (GAP + len(reading.rows))
    parts = [part for part in reading.parts if _tested(part, own=not reading.checks)]
    local = {name for part in parts for name in part.binds}
    known = set(dir(builtins)) - bound
    needed = {name for part in parts for name in part.needs if name not in known}
    wanted = sorted(name for name in needed if name in bound - local or name not in local)
    wanted += sorted(name for name in needed & bound & local if not _first_bound(parts, name))
    line = f"from {notebook.name} import {', '.join(wanted)}" if wanted else "pass"
    inside = {row for part in parts for row in range(part.start, part.end)}
    indent = INDENT if reading.checks else ""
    head = [f"def {cell.test}():", INDENT + line] if reading.checks else ["", line]
    rows = [
        "" if n not in inside else row if n in reading.inside or not row else indent + row
        for n, row in enumerate(reading.rows)
    ]
    return [*head, *rows]


def _tested(part: Part, *, own: bool) -> bool:
    """Does a statement of a cell with checks, or (`own`) with tests of its own, go into the test file?"""
    if part.star or part.future or part.kind is Kind.DEFINE:
        return False
    return part.kind is not Kind.CALL if own else True


def _first_bound(parts: Sequence[Part], name: str) -> bool:
    """Is a name bound by these statements before one takes it?"""
    for part in parts:
        if name in part.needs:
            return False
        if name in part.binds:
            return True
    return False


# -- and back -------------------------------------------------------------------------------------------------------


def landed(notebook: Notebook, before: str, after: str, home: int) -> Notebook | None:
    """The notebook with what changed from `before` to `after` (texts on its grid, or its first rows).

    What belongs to no cell, such as a new function at the end, goes to the top of the cell `home`.
    None where a change spans several cells.
    """
    rows = [lines(cell.source) for cell in notebook.cells]
    changed: dict[int, list[Hunk]] = {}
    strays: list[str] = []
    for hunk in hunks(before, after):
        moved = _slid(notebook, hunk, lines(before), home)
        at = _cell_of(notebook, moved, home)
        if at is None and any(line.strip() for line in lines(before)[hunk.start : hunk.end]):
            return None
        if at is None:
            strays.append("".join(moved.lines).strip("\r\n"))
        else:
            first = notebook.firsts[at]
            changed.setdefault(at, []).append(replace(moved, start=moved.start - first, end=moved.end - first))
    for number, found in changed.items():
        rows[number] = _changed(notebook.cells[number], found)
    if text := "\n\n\n".join(stray for stray in strays if stray):
        rows[home] = _on_top(rows[home], text)
    cells = (replace(cell, source="".join(rows[n])) for n, cell in enumerate(notebook.cells))
    return replace(notebook, cells=tuple(cells))


def _slid(notebook: Notebook, hunk: Hunk, old: Sequence[str], home: int) -> Hunk:
    """An insertion between cells that may as well stand a few rows further down, inside of one, stands there."""
    start, added = hunk.start, list(hunk.lines)
    while start == hunk.end + start - hunk.start and added and start < len(old) and old[start] == added[0]:
        if _cell_of(notebook, Hunk(start=start, end=start, lines=()), home) is not None:
            break
        added = [*added[1:], added[0]]
        start += 1
    found = Hunk(start=start, end=start + hunk.end - hunk.start, lines=tuple(added))
    return found if _cell_of(notebook, found, home) is not None else hunk


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
    for hunk in reversed(found):
        fresh = [line.rstrip("\r\n") for line in hunk.lines]
        rows[hunk.start : hunk.end] = [magics.get(line, line) + newline for line in fresh]
    if rows and not ended:
        rows[-1] = rows[-1].rstrip("\r\n")
    return rows


def _on_top(rows: Sequence[str], text: str) -> list[str]:
    """New code before everything else in a cell, but for a cell magic, which must come first."""
    newline = newline_of("".join(rows))
    at = 1 if rows and rows[0].startswith("%%") else 0
    fresh = [line.rstrip("\r\n") + newline for line in lines(text)]
    rest = list(rows[at:])
    return [*rows[:at], *fresh, *([newline, newline, *rest] if any(row.strip() for row in rest) else [])]


def changed_cells(old: Notebook, new: Notebook) -> Iterator[tuple[int, str, str]]:
    """Position, text before and text after of each cell that differs."""
    for number, (one, other) in enumerate(zip(old.cells, new.cells, strict=True)):
        if one.source != other.source:
            yield number, one.source, other.source
