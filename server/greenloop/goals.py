"""What of a notebook can be refined: functions, tests, and the cells that check something."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from greenloop import targets
from greenloop.core.cells import Kind
from greenloop.core.errors import UsageProblem
from greenloop.core.grid import Notebook

LISTED = 12


@dataclass(frozen=True, kw_only=True)
class Goal:
    """A target in a notebook: cell (0-based) and, for a function or a test, its name. Neither: the cell's checks.

    `last` is the cell up to which everything runs.
    """

    cell: int
    last: int
    name: str = ""
    test: bool = False


def goals(notebook: Notebook) -> list[Goal]:
    """Everything that can be refined: functions, cells that check something, tests; in order."""
    found = []
    for number, cell in enumerate(notebook.cells):
        found += [
            Goal(cell=number, last=notebook.speaking_of(part.name, number), name=part.name)
            for part in cell.reading.parts
            if part.kind is Kind.DEFINE and part.name
        ]
        if cell.reading.checks:
            found.append(Goal(cell=number, last=number, test=True))
        else:
            found += [Goal(cell=number, last=number, name=part.name, test=True) for part in cell.reading.tests]
    return found


def goal_at(notebook: Notebook, cell: int, row: int) -> Goal | None:
    """What is at a row (0-based) of a cell: the function or test around it, else the cell's checks."""
    if not 0 <= cell < len(notebook.cells):
        return None
    reading = notebook.cells[cell].reading
    if reading.broken:
        return _broken_at(notebook, cell, row)
    part = next((part for part in reading.parts if part.start <= row < part.end), None)
    if part is not None and part.kind is Kind.DEFINE and part.name:
        name = _inner(notebook, cell, row) or part.name
        return Goal(cell=cell, last=notebook.speaking_of(part.name, cell), name=name)
    if reading.checks:
        return Goal(cell=cell, last=cell, test=True)
    if part is not None and part.kind is Kind.TEST:
        return Goal(cell=cell, last=cell, name=part.name, test=True)
    return None


def _inner(notebook: Notebook, cell: int, row: int) -> str:
    """The method around a row."""
    here = targets.at("\n".join(notebook.cells[cell].reading.rows), notebook.module, row + 1)
    return here.qualname if here else ""


def _broken_at(notebook: Notebook, cell: int, row: int) -> Goal | None:
    name = _inner(notebook, cell, row)
    return Goal(cell=cell, last=notebook.speaking_of(name, cell), name=name) if name else None


def typed(notebook: Notebook, rest: str) -> Goal:
    """The goal of what follows a notebook's name: `:3`, `:cell id`, `::function`; nothing where there is only one.

    Raises `UsageProblem` that lists what there is.
    """
    found = goals(notebook)
    if rest.startswith("::"):
        name = rest[2:].replace("::", ".")
        named = [goal for goal in found if goal.name in (name, name.partition(".")[0])]
        if not named:
            raise _unclear(notebook, f"{notebook.path} has no function or test '{name}'.", found)
        return replace(named[-1], name=name)
    if rest:
        cell = _cell(notebook, rest[1:])
        if cell is None:
            many = len(notebook.cells)
            raise _unclear(notebook, f"{notebook.path} has no code cell '{rest[1:]}', it has {many}.", found)
        own = [goal for goal in found if goal.cell == cell]
        # Checks speak for the functions that stand in the same cell.
        own = [goal for goal in own if goal.test] or own
        what = f"Cell {cell + 1} of {notebook.path}"
    else:
        own, what = found, notebook.path
    if len(own) == 1:
        return own[0]
    if own:
        raise _unclear(notebook, f"{what} has {len(own)} targets.", own)
    raise _unclear(notebook, f"{what} has no assert and defines no function.", found)


def _cell(notebook: Notebook, word: str) -> int | None:
    if word.isascii() and word.isdigit() and 1 <= int(word) <= len(notebook.cells):
        return int(word) - 1
    return next((n for n, cell in enumerate(notebook.cells) if cell.id and cell.id == word), None)


def _unclear(notebook: Notebook, sentence: str, found: Sequence[Goal]) -> UsageProblem:
    listed = ", ".join(spelled(notebook, goal) for goal in found[:LISTED])
    more = ", …" if len(found) > LISTED else ""
    return UsageProblem(sentence, remedy=f"Name one of: {listed}{more}." if listed else "Write a check with assert.")


def spelled(notebook: Notebook, goal: Goal) -> str:
    """A goal as it is typed."""
    return f"{notebook.path}::{goal.name}" if goal.name else f"{notebook.path}:{goal.cell + 1}"
