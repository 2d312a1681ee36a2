"""Adapts notebooks to the engine: builds the request and translates the outcome back to cells.

The engine sees a module and a test file in the notebook's folder that exist only in the sandbox. Cells before the
target are executed there first. Reads files, never writes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from greenloop.core.errors import UsageError, WorkspaceError
from greenloop.core.records.outcome import Outcome
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Target, TargetKind
from greenloop.engine.target_adapters import AdaptedTarget
from greenloop.plugins.notebooks import ipynb
from greenloop.plugins.notebooks.cell_labels import label_json, label_text
from greenloop.plugins.notebooks.cell_source import LineKind
from greenloop.plugins.notebooks.cell_targets import CellTarget
from greenloop.plugins.notebooks.layout import Cell, Notebook, module_names
from greenloop.plugins.notebooks.module import Composed, compose
from greenloop.plugins.notebooks.write_back import changed_cells, write_back
from greenloop.project import sources, targets
from greenloop.project.environment.faults import Fault
from greenloop.project.settings import Settings, values, with_value
from greenloop.project.syntax import definitions
from greenloop_sandbox import Failure

if TYPE_CHECKING:
    from greenloop.engine.refine import RefineRequest  # slow to import

MAX_BYTES = 64 << 20  # outputs included


@dataclass(frozen=True, kw_only=True)
class NotebookTarget(AdaptedTarget):
    """The engine's input for a target in a notebook, and the translation of its output back to cells.

    `text` is that of the notebook's file, empty where the cells are those of an editor.
    """

    notebook: Notebook
    cell_target: CellTarget
    composed: Composed
    target: Target
    text: str = ""

    def locate(self) -> tuple[Target, str]:
        return self.target, self.composed.module

    def to_request(self, request: RefineRequest) -> RefineRequest:
        """The request with the notebook's two files."""
        buffers = {**request.buffers, **self.buffers}
        return replace(request, target=self.target, buffers=buffers, known_fault=self.fault)

    def adapt_settings(self, settings: Settings) -> Settings:
        """Settings for a notebook, which has no test file that generated tests could be written to."""
        return with_value(settings, "spec.write", value=False) if "spec.write" in values(settings) else settings

    @property
    def buffers(self) -> dict[str, bytes]:
        """The module and the test file, for the sandbox."""
        texts = {self.notebook.module: self.composed.module, self.notebook.tests: self.composed.tests}
        return {path: text.encode("utf-8", "surrogatepass") for path, text in texts.items()}

    def write_back(self, outcome: Outcome) -> Notebook:
        """The notebook with the outcome's changes. Raises `WorkspaceError` if a change spans several cells."""
        module = self.notebook.module
        if module not in outcome.after:
            return self.notebook
        changed = write_back(
            self.notebook, outcome.before.get(module) or "", outcome.after[module], self.cell_target.last_cell
        )
        if changed is None:
            raise WorkspaceError(
                f"The result changes code across several cells of {self.notebook.path}, which cannot be separated."
            )
        return changed

    def show(self, outcome: Outcome) -> Outcome:
        """The outcome for display, with cells in place of the module: `nb.ipynb:3` is the third code cell."""
        before, after = dict(outcome.before), dict(outcome.after)
        if after.pop(self.notebook.module, None) is not None:
            before.pop(self.notebook.module, None)
            for number, old, new in changed_cells(self.notebook, self.write_back(outcome)):
                name = f"{self.notebook.path}:{number + 1}"
                before[name], after[name] = _with_line_end(old), _with_line_end(new)
        return replace(outcome, before=before, after=after, message=self.label(outcome.message))

    def to_files(self, outcome: Outcome) -> Outcome:
        """The outcome with the notebook's file in place of the module."""
        path, before, after = self.notebook.path, dict(outcome.before), dict(outcome.after)
        if after.pop(self.notebook.module, None) is not None:
            before.pop(self.notebook.module, None)
            file = ipynb.parse(self.text, path)
            before[path], after[path] = self.text, ipynb.updated_text(file, self.write_back(outcome)).text
        return replace(outcome, before=before, after=after)

    def originals(self, problem: Problem) -> dict[str, str | None]:
        """The files on which a result depends, with the notebook's file in place of the two generated ones."""
        generated = {self.notebook.module, self.notebook.tests}
        return {path: original for path, original in problem.originals.items() if path not in generated} | {
            self.notebook.path: self.text
        }

    def to_sandbox(self, files: dict[str, bytes]) -> dict[str, bytes]:
        """The files with module and tests in place of the notebook's. Raises `UsageError`."""
        others = {path: data for path, data in files.items() if path != self.notebook.path}
        text = files.get(self.notebook.path)
        return others | (self.buffers if text is None else self._in_text(text.decode()).buffers)

    def _in_text(self, text: str) -> NotebookTarget:
        """The same target in another text of the file. Raises `UsageError` if that text no longer has it."""
        file = ipynb.parse(text, self.notebook.path)
        notebook = file.to_notebook(self.notebook.path, self.notebook.module, self.notebook.tests)
        if len(notebook.cells) != len(self.notebook.cells):
            raise UsageError(f"{self.notebook.path} has different cells than before.")
        return prepare(notebook, self.cell_target, text)

    def label(self, text: str) -> str:
        """A message with line numbers of the module replaced by cells and rows."""
        return label_text(self.notebook, text)

    def label_json(self, value: dict[str, Any]) -> dict[str, Any]:
        """The same for every text in it; a diff stays unchanged."""
        labelled: dict[str, Any] = label_json(self.notebook, value)
        return labelled | {name: value[name] for name in value.keys() & {"diff"}}

    def fault(self, failures: Sequence[Failure]) -> Fault | None:
        """The fault if an earlier cell fails, independently of the notebook's functions."""
        faults = [self._fault(failure) for failure in failures]
        return faults[0] if faults and all(faults) else None

    def _fault(self, failure: Failure) -> Fault | None:
        own_frames = [frame for frame in failure.frames if frame.path in (self.notebook.module, self.notebook.tests)]
        if not own_frames or own_frames[-1].path != self.notebook.module or own_frames[-1].function != "<module>":
            return None
        position = self.notebook.position_of(own_frames[-1].line - 1)
        if position is None or self._uses_functions(position.cell, position.row):
            return None
        location = f"Cell {position.cell + 1} of {self.notebook.path} fails in row {position.row + 1}"
        first_line = failure.message.strip().split("\n")[0]
        description = (
            first_line if first_line.startswith(failure.type) else f"{failure.type}: {first_line}".rstrip(": ")
        )
        return Fault(
            sentence=f"{location}: {description}", remedy="Earlier cells run before the target; fix that cell first."
        )

    def _uses_functions(self, cell: int, row: int) -> bool:
        """Does the statement depend, also through other names, on a function or class of the notebook?"""
        parts = [(n, part) for n, other_cell in enumerate(self.notebook.cells) for part in other_cell.parsed.parts]
        names = {
            name for n, part in parts if n == cell and part.start <= row < part.end for name in part.needs | part.binds
        }
        previous_size = -1
        while previous_size != len(names):
            previous_size = len(names)
            for _n, part in parts:
                if part.binds & names and part.kind is LineKind.DEFINE:
                    return True
                if part.binds & names and part.kind is not LineKind.IMPORT:
                    names |= part.needs
        return False


# -- from a file ----------------------------------------------------------------------------------------------------


def load(root: Path, path: str) -> tuple[Notebook, str]:
    """A notebook of the workspace and its file's text. Raises `UsageError` if it cannot be read."""
    file = root / path
    try:
        if file.stat().st_size > MAX_BYTES:
            raise UsageError(
                f"{path} is larger than {MAX_BYTES >> 20} MB.", remedy="Clear its outputs in Jupyter first."
            )
        # A byte order mark is not part of the text; code that writes the file keeps it.
        text = file.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8.", remedy="Save it with Jupyter.") from error
    return ipynb.parse(text, path).to_notebook(path, *free_module_names(root, path)), text


def free_module_names(workspace: Path, path: str) -> tuple[str, str]:
    """Paths for the module and the test file that are not taken in the notebook's folder."""
    folder = workspace / PurePosixPath(path).parent
    return module_names(path, [file.name for file in folder.glob("*_ipynb*.py")])


# -- for the engine -------------------------------------------------------------------------------------------------


def prepare(notebook: Notebook, goal: CellTarget, text: str = "") -> NotebookTarget:
    """The engine's input for a target. Raises `UsageError` if the target or an earlier cell cannot be used."""
    for number, cell in enumerate(notebook.cells[: goal.last_cell + 1]):
        if cell.parsed.syntax_error and number != goal.cell:
            row, why = cell.parsed.syntax_error
            raise UsageError(
                f"Cell {number + 1} of {notebook.path} cannot be read in row {row + 1}: {why}.",
                remedy="Earlier cells run before the target; fix that cell first.",
            )
    composed = compose(notebook, goal.last_cell)
    return NotebookTarget(
        notebook=notebook, cell_target=goal, composed=composed, target=_target(notebook, goal, composed), text=text
    )


def _target(notebook: Notebook, goal: CellTarget, composed: Composed) -> Target:
    cell = notebook.cells[goal.cell]
    if goal.test and not goal.name:
        return check_target(notebook, goal.cell)
    path, text = (notebook.tests, composed.tests) if goal.test else (notebook.module, composed.module)
    target = targets.find_target(text, path, goal.name, python_files=sources.TEST_FILES)
    if target is None:
        raise UsageError(f"Cell {goal.cell + 1} of {notebook.path} has no function '{goal.name}'.")
    rows = _definition_rows(cell, goal.name)
    first_row = notebook.first_rows[goal.cell]
    if rows and not goal.test:
        # Among several functions of that name, the one in this cell.
        target = replace(target, start=first_row + rows[0], end=first_row + rows[1], name_line=first_row + rows[2])
    return target


def _definition_rows(cell: Cell, name: str) -> tuple[int, ...]:
    """First, last and name line (1-based) of a definition in its cell."""
    definition = definitions.find_by_qualname(
        definitions.find_definitions("\n".join(cell.parsed.rows), "cell.py"), name
    )
    return (definition.start, definition.end, definition.name_line) if definition else ()


def check_target(notebook: Notebook, cell: int) -> Target:
    """The target for the checks of a cell; its lines extend from the first check to the last."""
    test_name, first_row = notebook.cells[cell].test, notebook.first_rows[cell]
    checks = [part for part in notebook.cells[cell].parsed.parts if part.kind is LineKind.CHECK]
    first_line, last_line = first_row + checks[0].start + 1, first_row + checks[-1].end
    selector = f"{notebook.tests}::{test_name}"
    return Target(
        kind=TargetKind.TEST,
        path=notebook.tests,
        qualname=test_name,
        selector=selector,
        start=first_line,
        end=last_line,
        name_line=first_line,
    )


def _with_line_end(text: str) -> str:
    return text if text.endswith("\n") or not text else text + "\n"
