"""A notebook in an editor: targets in its cells, the engine's request, its outcome. Loads the parser.

The file of an outcome is the grid of all current cells (`plugins/notebooks/layout.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from greenloop.api import targets
from greenloop.api.targets import Heading
from greenloop.core.errors import UsageError
from greenloop.core.records.outcome import Outcome
from greenloop.core.records.spec import Target, TargetKind
from greenloop.lsp.documents.composite import EditorTarget
from greenloop.plugins.notebooks import adapter, cell_targets
from greenloop.plugins.notebooks.adapter import NotebookTarget
from greenloop.plugins.notebooks.cell_labels import label_text
from greenloop.plugins.notebooks.cell_targets import CellTarget
from greenloop.plugins.notebooks.layout import Notebook
from greenloop.plugins.notebooks.module import all_tests, compose, last_cell_run
from greenloop.plugins.notebooks.write_back import changed_cells, write_back


@dataclass(frozen=True, kw_only=True)
class EditorNotebookTarget(NotebookTarget, EditorTarget):
    """The input of a run, whose output is put into the grid of all cells."""

    def texts(self) -> dict[str, str]:
        return {self.notebook.module: self.notebook.text, self.notebook.tests: all_tests(self.notebook)}

    def in_editor(self, outcome: Outcome) -> Outcome:
        outcome = replace(outcome, message=self.label(outcome.message))
        if self.notebook.module not in outcome.after:
            return outcome
        return _with_grid(self.notebook, outcome, self.write_back(outcome))

    def change_in_editor(self, after: Mapping[str, str]) -> dict[str, tuple[str, str]]:
        changed = self._after(after)
        if changed is None or changed.text == self.notebook.text:
            return {}
        return {self.notebook.module: (self.notebook.text, changed.text)}

    def line_name(self, path: str, line: int, files: Mapping[str, str]) -> str:
        is_changed = path == self.notebook.module and path in files
        return label_text((self._after(files) if is_changed else None) or self.notebook, f"{path}:{line}")

    def _after(self, files: Mapping[str, str]) -> Notebook | None:
        """The notebook after an attempt; None where a change spans several cells, or none is in its module."""
        module = files.get(self.notebook.module)
        last_cell = self.cell_target.last_cell
        return None if module is None else write_back(self.notebook, self.composed.module, module, last_cell)


class EditorNotebook:
    """The current cells of an open notebook, by the port `CompositeFile`."""

    def __init__(self, notebook: Notebook) -> None:
        self._notebook = notebook
        self.path, self.python = notebook.path, notebook.python

    def label(self, text: str) -> str:
        return label_text(self._notebook, text)

    def target_at(self, line: int) -> Target | None:
        """The function at a 1-based line of the grid, or the checks of its cell."""
        notebook = self._notebook
        place = notebook.position_of(line - 1)
        goal = cell_targets.target_at(notebook, place.cell, place.row) if place else None
        if goal is None:
            return None
        if not goal.test:
            return targets.target_at(notebook.python, notebook.module, line)
        if not goal.name:
            return adapter.check_target(notebook, goal.cell)
        return targets.find_target(compose(notebook, goal.last_cell).tests, notebook.tests, goal.name)

    def headings(self) -> Iterator[Heading]:
        """Every target of all cells: functions, then tests."""
        notebook = self._notebook
        tests = {part.name for cell in notebook.cells for part in cell.parsed.tests}
        for heading in targets.list_headings(notebook.python, notebook.module):
            if heading.qualname.partition(".")[0] not in tests:
                yield heading
        for goal in cell_targets.list_targets(notebook):
            name = goal.name or notebook.cells[goal.cell].test
            if goal.test and (target := self.find_target(notebook.tests, name)):
                yield Heading(target.kind, target.qualname, target.selector, target.name_line, False, False)

    def find_target(self, path: str, name: str) -> Target | None:
        """The target with that name in the module or the tests."""
        notebook = self._notebook
        if path == notebook.module:
            return targets.find_target(notebook.python, path, name) if name else None
        cell = next((n for n, each in enumerate(notebook.cells) if each.test == name and each.parsed.checks), None)
        if cell is not None:
            return adapter.check_target(notebook, cell)
        return targets.find_target(all_tests(notebook), path, name) if name else None

    def changes(self, before: str, after: str) -> list[tuple[int, str, str]] | None:
        """The cells that a change of the grid's text changes; None where one change spans several."""
        changed = write_back(self._notebook, before, after, default_cell=-1)
        return None if changed is None else [*changed_cells(self._notebook, changed)]

    def prepare(self, target: Target) -> EditorNotebookTarget:
        return self._prepare(self._goal(target))

    def prepare_tests(self, target: Target | None) -> tuple[EditorNotebookTarget, tuple[str, ...]]:
        """A function's tests are the checks of all cells up to the last that names it."""
        notebook = self._notebook
        cell_goals = cell_targets.list_targets(notebook)
        if not any(goal.test for goal in cell_goals):
            raise UsageError(f"{notebook.path} has no checks.", remedy="Write a check with assert.")
        if target is not None:
            return self.prepare(target), (target.selector if target.kind is TargetKind.TEST else notebook.tests,)
        every = replace(next(goal for goal in cell_goals if goal.test), last_cell=len(notebook.cells) - 1)
        return self._prepare(every), (notebook.tests,)

    def in_editor(self, outcome: Outcome) -> Outcome | None:
        """A stored outcome with the grid of all cells in place of the module; None where its run saw other cells."""
        notebook = self._notebook
        if notebook.module not in outcome.after:
            return outcome
        before, after = outcome.before.get(notebook.module) or "", outcome.after[notebook.module]
        last_cell = last_cell_run(notebook, before)
        changed = write_back(notebook, before, after, last_cell) if last_cell is not None else None
        return None if changed is None else _with_grid(notebook, outcome, changed)

    def merged_buffers(self, target: Target, merged: Mapping[str, str]) -> dict[str, bytes]:
        notebook, text = self._notebook, merged.get(self._notebook.module)
        changed = notebook if text is None else write_back(notebook, notebook.text, text, default_cell=-1)
        if changed is None:
            raise UsageError(f"The merge spans several cells of {notebook.path}.")
        return EditorNotebook(changed).prepare(target).buffers

    def _prepare(self, goal: CellTarget) -> EditorNotebookTarget:
        return EditorNotebookTarget(**vars(adapter.prepare(self._notebook, goal)))

    def _goal(self, target: Target) -> CellTarget:
        """The goal of a target in the current cells. Raises `UsageError`."""
        notebook, name = self._notebook, target.qualname
        if target.kind is TargetKind.TEST:
            for goal in cell_targets.list_targets(notebook):
                if goal.test and name in (goal.name, "" if goal.name else notebook.cells[goal.cell].test):
                    return goal
        place = notebook.position_of(target.name_line - 1)
        goal_here = cell_targets.target_at(notebook, place.cell, place.row) if place else None
        if goal_here is not None and goal_here.name == name:
            return goal_here
        same_name = [
            goal
            for goal in cell_targets.list_targets(notebook)
            if not goal.test and goal.name in (name, name.partition(".")[0])
        ]
        if not same_name:
            raise UsageError(f"{notebook.path} has no {name} any more.")
        return replace(same_name[-1], name=name)


def _with_grid(notebook: Notebook, outcome: Outcome, changed: Notebook) -> Outcome:
    before = {**outcome.before, notebook.module: notebook.text}
    return replace(outcome, before=before, after={**outcome.after, notebook.module: changed.text})
