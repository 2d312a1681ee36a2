"""Composes the module and test file that are executed for a notebook target, on the same grid.

This module must not know of files, nor how the tests are run.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from greenloop.plugins.notebooks.cell_source import AWAIT, CellPart, LineKind
from greenloop.plugins.notebooks.layout import GAP_ROWS, Cell, Notebook

INDENT = "    "

# Names that Jupyter provides and Python does not, each defined only if it is used.
_JUPYTER = {
    "display": "display = print",
    "get_ipython": 'get_ipython = __import__("unittest.mock", fromlist=["mock"]).MagicMock()',
    AWAIT: f'{AWAIT} = __import__("asyncio").new_event_loop().run_until_complete',
}


@dataclass(frozen=True, kw_only=True)
class Composed:
    """The cells up to `last_cell` (0-based) as the texts of a module and of a test file."""

    notebook: Notebook
    last: int
    module: str
    tests: str


def compose(notebook: Notebook, last: int) -> Composed:
    """Composes the cells up to `last_cell`: the module defines and executes, and each cell's checks become a test."""
    kept = [_kept_statements(notebook, number, last) for number in range(last + 1)]
    module: list[str] = []
    tests: list[str] = []
    bound_names = {name for n, parts in enumerate(kept) for part in parts for name in part.binds} | set(_JUPYTER)
    future_imports: list[str] = []
    for number in range(last + 1):
        cell = notebook.cells[number]
        rows = list(cell.parsed.rows)
        if not cell.parsed.syntax_error:
            kept_rows = {row for part in kept[number] for row in range(part.start, part.end)}
            for part in cell.parsed.parts:
                if part.is_future_import and part in kept[number]:
                    future_imports.append(" ".join(row.strip("\\ ") for row in rows[part.start : part.end]))
                    kept_rows -= set(range(part.start, part.end))
            statement_rows = {row for part in cell.parsed.parts for row in range(part.start, part.end)}
            rows = [
                row if n in kept_rows or n not in statement_rows else f"# {row}".rstrip() for n, row in enumerate(rows)
            ]
        module += ["", "", *rows]
        tests += _test(notebook, cell, bound_names)
    used = {name for n in range(last + 1) for part in notebook.cells[n].parsed.parts for name in part.needs}
    defined = {name for parts in kept for part in parts for name in part.binds}
    # Jupyter runs a notebook in its folder.
    change = '__import__("os").chdir(__import__("os").path.dirname(__import__("os").path.abspath(__file__)))'
    preamble = [
        *future_imports,
        *([] if str(PurePosixPath(notebook.path).parent) == "." else [change]),
        *(text for name, text in _JUPYTER.items() if name in used - defined),
    ]
    if module:
        module[0] = "; ".join(preamble)
    return Composed(notebook=notebook, last=last, module=_join(module), tests=_join(tests))


def all_tests(notebook: Notebook) -> str:
    """The test file with the checks of all cells."""
    return compose(notebook, len(notebook.cells) - 1).tests if notebook.cells else ""


def last_cell_run(notebook: Notebook, module: str) -> int | None:
    """The last cell (0-based) of the run whose module had that text; None if it saw other cells."""
    return next((n for n in range(len(notebook.cells)) if compose(notebook, n).module == module), None)


def _join(rows: Sequence[str]) -> str:
    return "".join(row + "\n" for row in rows)


def _kept_statements(notebook: Notebook, number: int, last_cell: int) -> list[CellPart]:
    """The statements of a cell that go into the module.

    Without checks and tests in the cell, these are all; otherwise they are definitions, imports, and statements that
    later cells need.
    """
    reading = notebook.cells[number].parsed
    if not reading.checks and not reading.tests:
        return list(reading.parts)
    needed_later = {
        name for n in range(number + 1, last_cell + 1) for part in notebook.cells[n].parsed.parts for name in part.needs
    }
    return [
        part
        for part in reading.parts
        if part.kind in (LineKind.IMPORT, LineKind.DEFINE)
        or (part.kind is LineKind.OTHER and part.binds & needed_later)
    ]


def _test(notebook: Notebook, cell: Cell, bound: set[str]) -> list[str]:
    """The rows of a cell in the test file, including the two before it."""
    reading = cell.parsed
    if reading.syntax_error or not (reading.checks or reading.tests):
        return [""] * (GAP_ROWS + len(reading.rows))
    parts = [part for part in reading.parts if _belongs_in_tests(part, has_own_tests=not reading.checks)]
    local_names = {name for part in parts for name in part.binds}
    builtin_names = set(dir(builtins)) - bound
    needed = {name for part in parts for name in part.needs if name not in builtin_names}
    imported = sorted(name for name in needed if name in bound - local_names or name not in local_names)
    imported += sorted(name for name in needed & bound & local_names if not _first_binding(parts, name))
    import_row = f"from {notebook.name} import {', '.join(imported)}" if imported else "pass"
    test_rows = {row for part in parts for row in range(part.start, part.end)}
    indent = INDENT if reading.checks else ""
    header = [f"def {cell.test}():", INDENT + import_row] if reading.checks else ["", import_row]
    rows = [
        "" if number not in test_rows else row if number in reading.string_rows or not row else indent + row
        for number, row in enumerate(reading.rows)
    ]
    return [*header, *rows]


def _belongs_in_tests(statement: CellPart, *, has_own_tests: bool) -> bool:
    """Does a statement go into the test file? `has_own_tests`: the cell has tests and no checks."""
    if statement.is_star_import or statement.is_future_import or statement.kind is LineKind.DEFINE:
        return False
    return statement.kind is not LineKind.CALL if has_own_tests else True


def _first_binding(statements: Sequence[CellPart], name: str) -> bool:
    """Do these statements bind a name before one uses it?"""
    for statement in statements:
        if name in statement.needs:
            return False
        if name in statement.binds:
            return True
    return False
