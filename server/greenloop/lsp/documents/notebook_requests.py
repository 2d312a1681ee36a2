"""Adapts the editor's runs to notebooks: targets in cells, the engine's request, its outcome.

The engine gets the texts of `greenloop.api.notebook_targets`; here the file is the grid of all current cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from greenloop import api
from greenloop.api.notebooks import Notebook, compose, last_cell_run, write_back
from greenloop.core.errors import UsageError
from greenloop.core.events import Started
from greenloop.core.records.outcome import Outcome
from greenloop.core.records.spec import Target, TargetKind
from greenloop.lsp.documents.notebooks import all_tests

if TYPE_CHECKING:
    from greenloop.api.engine import RefineRequest
    from greenloop.api.notebook_targets import CellTarget, NotebookTarget
    from greenloop.api.settings import Settings
    from greenloop.api.targets import Heading


def target_at(notebook: Notebook, line: int) -> Target | None:
    """The function at a 1-based line of the grid, or the checks of its cell."""
    place = notebook.position_of(line - 1)
    goal = api.notebook_targets.target_at(notebook, place.cell, place.row) if place else None
    if goal is None:
        return None
    if not goal.test:
        return api.targets.target_at(notebook.python, notebook.module, line)
    if not goal.name:
        return api.notebook_targets.check_target(notebook, goal.cell)
    return api.targets.find_target(compose(notebook, goal.last_cell).tests, notebook.tests, goal.name)


def headings(notebook: Notebook) -> Iterator[Heading]:
    """Every target of all cells: functions, then tests."""
    tests = {part.name for cell in notebook.cells for part in cell.parsed.tests}
    for heading in api.targets.list_headings(notebook.python, notebook.module):
        if heading.qualname.partition(".")[0] not in tests:
            yield heading
    for goal in api.notebook_targets.list_targets(notebook):
        if goal.test and (target := find_target(notebook, notebook.tests, goal.name or notebook.cells[goal.cell].test)):
            yield api.targets.Heading(target.kind, target.qualname, target.selector, target.name_line, False, False)


def find_target(notebook: Notebook, path: str, name: str) -> Target | None:
    """The target with that name in a notebook's module or tests."""
    if path == notebook.module:
        return api.targets.find_target(notebook.python, path, name) if name else None
    cell = next((n for n, each in enumerate(notebook.cells) if each.test == name and each.parsed.checks), None)
    if cell is not None:
        return api.notebook_targets.check_target(notebook, cell)
    return api.targets.find_target(all_tests(notebook), path, name) if name else None


def prepare(target: Target, notebook: Notebook) -> NotebookTarget:
    """The engine's input for a run in a notebook. Raises `UsageError`."""
    return api.notebook_targets.prepare(notebook, _goal(target, notebook))


def _goal(target: Target, notebook: Notebook) -> CellTarget:
    """The goal of a target in the current cells."""
    name = target.qualname
    if target.kind is TargetKind.TEST:
        for goal in api.notebook_targets.list_targets(notebook):
            if goal.test and name in (goal.name, "" if goal.name else notebook.cells[goal.cell].test):
                return goal
    place = notebook.position_of(target.name_line - 1)
    goal_here = api.notebook_targets.target_at(notebook, place.cell, place.row) if place else None
    if goal_here is not None and goal_here.name == name:
        return goal_here
    same_name = [
        goal
        for goal in api.notebook_targets.list_targets(notebook)
        if not goal.test and goal.name in (name, name.partition(".")[0])
    ]
    if not same_name:
        raise UsageError(f"{notebook.path} has no {name} any more.")
    return replace(same_name[-1], name=name)


def prepare_tests(notebook: Notebook, target: Target | None) -> tuple[NotebookTarget, tuple[str, ...]]:
    """The sandbox's files to run a target's tests, and their selectors; None: all checks of all cells.

    A function's tests are the checks of all cells up to the last that names it. Raises `UsageError`.
    """
    cell_goals = api.notebook_targets.list_targets(notebook)
    if not any(goal.test for goal in cell_goals):
        raise UsageError(f"{notebook.path} has no checks.", remedy="Write a check with assert.")
    if target is not None:
        prepared = api.notebook_targets.prepare(notebook, _goal(target, notebook))
        single = target.kind is TargetKind.TEST
        return prepared, (target.selector if single else notebook.tests,)
    every = replace(next(goal for goal in cell_goals if goal.test), last_cell=len(notebook.cells) - 1)
    return api.notebook_targets.prepare(notebook, every), (notebook.tests,)


def grid_texts(notebook: Notebook) -> dict[str, str]:
    """The grid of all cells as module and tests: the texts that line numbers refer to."""
    return {notebook.module: notebook.text, notebook.tests: all_tests(notebook)}


def adapt_request(
    request: RefineRequest, prepared: NotebookTarget, settings: Settings
) -> tuple[RefineRequest, Settings]:
    """The request with the notebook's two files, and settings adapted to them."""
    buffers = {**request.buffers, **prepared.buffers}
    request = replace(request, target=prepared.target, buffers=buffers, known_fault=prepared.fault)
    return request, api.notebook_targets.adapt_settings(settings)


def with_grid(prepared: NotebookTarget, started: Started) -> Started:
    """The event with the texts of all cells as originals."""
    originals = {**started.problem.originals, **grid_texts(prepared.notebook)}
    return replace(started, problem=replace(started.problem, originals=originals))


def notebook_after(prepared: NotebookTarget, module: str) -> Notebook | None:
    """The notebook after an attempt whose module ran as `module`; None where a change spans several cells."""
    return write_back(prepared.notebook, prepared.composed.module, module, prepared.cell_target.last_cell)


def adapt_outcome(prepared: NotebookTarget, outcome: Outcome) -> Outcome:
    """The outcome with the grid of all cells in place of the module. Raises `WorkspaceError`."""
    module = prepared.notebook.module
    outcome = replace(outcome, message=prepared.label_cells(outcome.message))
    return (
        outcome if module not in outcome.after else _with_grid(prepared.notebook, outcome, prepared.write_back(outcome))
    )


def adapt_stored_outcome(notebook: Notebook, outcome: Outcome) -> Outcome | None:
    """A stored outcome with the grid of all cells in place of the module; None where its run saw other cells."""
    module = notebook.module
    if module not in outcome.after:
        return outcome
    before = outcome.before.get(module) or ""
    last_cell = last_cell_run(notebook, before)
    changed = write_back(notebook, before, outcome.after[module], last_cell) if last_cell is not None else None
    return None if changed is None else _with_grid(notebook, outcome, changed)


def _with_grid(notebook: Notebook, outcome: Outcome, changed: Notebook) -> Outcome:
    before = {**outcome.before, notebook.module: notebook.text}
    return replace(outcome, before=before, after={**outcome.after, notebook.module: changed.text})


def merged_buffers(target: Target, notebook: Notebook, merged: Mapping[str, str]) -> dict[str, bytes]:
    """The sandbox's files for a result that was merged with the user's later edits.

    Raises `UsageError` where the target no longer exists.
    """
    text = merged.get(notebook.module)
    changed = notebook if text is None else write_back(notebook, notebook.text, text, default_cell=-1)
    if changed is None:
        raise UsageError(f"The merge spans several cells of {notebook.path}.")
    return prepare(target, changed).buffers
