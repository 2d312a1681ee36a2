"""What of a notebook is executed for a target: the cells up to it, as a module and a test file on the same grid.

It must not know of files, nor how the tests are run.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from greenloop.core.cells import WAIT, Kind, Part
from greenloop.core.grid import GAP, Cell, Notebook

INDENT = "    "

# What Jupyter puts there and Python does not, each for those who use it.
_JUPYTER = {
    "display": "display = print",
    "get_ipython": 'get_ipython = __import__("unittest.mock", fromlist=["mock"]).MagicMock()',
    WAIT: f'{WAIT} = __import__("asyncio").new_event_loop().run_until_complete',
}


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


def ran_to(notebook: Notebook, module: str) -> int | None:
    """The last cell (0-based) of the run whose module had that text; None where it saw other cells."""
    return next((n for n in range(len(notebook.cells)) if compose(notebook, n).module == module), None)


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
