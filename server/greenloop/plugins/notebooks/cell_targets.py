"""Targets in a notebook: functions, tests, and cells with checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from greenloop.core.errors import UsageError
from greenloop.plugins.notebooks.cell_source import LineKind
from greenloop.plugins.notebooks.layout import Notebook
from greenloop.project import targets

MAX_LISTED = 12


@dataclass(frozen=True, kw_only=True)
class CellTarget:
    """A target in a notebook: a cell (0-based) and, for a function or a test, its name; no name: the cell's checks.

    `last_cell` is the cell up to which everything runs.
    """

    cell: int
    last_cell: int
    name: str = ""
    test: bool = False


def list_targets(notebook: Notebook) -> list[CellTarget]:
    """All targets of a notebook in order: functions, cells with checks, tests."""
    targets_found = []
    for number, cell in enumerate(notebook.cells):
        targets_found += [
            CellTarget(cell=number, last_cell=notebook.last_cell_testing(part.name, number), name=part.name)
            for part in cell.parsed.parts
            if part.kind is LineKind.DEFINE and part.name
        ]
        if cell.parsed.checks:
            targets_found.append(CellTarget(cell=number, last_cell=number, test=True))
        else:
            targets_found += [
                CellTarget(cell=number, last_cell=number, name=part.name, test=True) for part in cell.parsed.tests
            ]
    return targets_found


def target_at(notebook: Notebook, cell: int, row: int) -> CellTarget | None:
    """The target at a row (0-based) of a cell: the enclosing function or test, else the cell's checks."""
    if not 0 <= cell < len(notebook.cells):
        return None
    reading = notebook.cells[cell].parsed
    if reading.syntax_error:
        name = _enclosing_target(notebook, cell, row)
        return CellTarget(cell=cell, last_cell=notebook.last_cell_testing(name, cell), name=name) if name else None
    statement = next((statement for statement in reading.parts if statement.start <= row < statement.end), None)
    if statement is not None and statement.kind is LineKind.DEFINE and statement.name:
        name = _enclosing_target(notebook, cell, row) or statement.name
        return CellTarget(cell=cell, last_cell=notebook.last_cell_testing(statement.name, cell), name=name)
    if reading.checks:
        return CellTarget(cell=cell, last_cell=cell, test=True)
    if statement is not None and statement.kind is LineKind.TEST:
        return CellTarget(cell=cell, last_cell=cell, name=statement.name, test=True)
    return None


def _enclosing_target(notebook: Notebook, cell: int, row: int) -> str:
    """The qualified name of the enclosing function or method, or empty."""
    target = targets.target_at("\n".join(notebook.cells[cell].parsed.rows), notebook.module, row + 1)
    return target.qualname if target else ""


def parse_target(notebook: Notebook, rest: str) -> CellTarget:
    """Parses what follows a notebook's name: `:3`, `:cell id`, `::function`, or nothing if there is only one target.

    Raises `UsageError` that lists the targets.
    """
    all_targets = list_targets(notebook)
    if rest.startswith("::"):
        name = rest[2:].replace("::", ".")
        same_name = [goal for goal in all_targets if goal.name in (name, name.partition(".")[0])]
        if not same_name:
            raise _ambiguous(notebook, f"{notebook.path} has no function or test '{name}'.", all_targets)
        return replace(same_name[-1], name=name)
    if rest:
        cell = _cell(notebook, rest[1:])
        if cell is None:
            count = len(notebook.cells)
            raise _ambiguous(notebook, f"{notebook.path} has no code cell '{rest[1:]}', it has {count}.", all_targets)
        matching = [goal for goal in all_targets if goal.cell == cell]
        # A cell's checks take precedence over the functions in the same cell.
        matching = [goal for goal in matching if goal.test] or matching
        subject = f"Cell {cell + 1} of {notebook.path}"
    else:
        matching, subject = all_targets, notebook.path
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise _ambiguous(notebook, f"{subject} has {len(matching)} targets.", matching)
    raise _ambiguous(notebook, f"{subject} has no assert and defines no function.", all_targets)


def _cell(notebook: Notebook, word: str) -> int | None:
    if word.isascii() and word.isdigit() and 1 <= int(word) <= len(notebook.cells):
        return int(word) - 1
    return next((n for n, cell in enumerate(notebook.cells) if cell.id and cell.id == word), None)


def _ambiguous(notebook: Notebook, sentence: str, choices: Sequence[CellTarget]) -> UsageError:
    names = ", ".join(format_target(notebook, goal) for goal in choices[:MAX_LISTED])
    more = ", …" if len(choices) > MAX_LISTED else ""
    return UsageError(sentence, remedy=f"Name one of: {names}{more}." if names else "Write a check with assert.")


def format_target(notebook: Notebook, goal: CellTarget) -> str:
    """A target as the user types it."""
    return f"{notebook.path}::{goal.name}" if goal.name else f"{notebook.path}:{goal.cell + 1}"
