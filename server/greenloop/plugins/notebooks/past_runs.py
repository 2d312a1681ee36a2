"""Finds the notebooks of past runs, whose history names the modules that stood for them in the sandbox.

Reads files, never writes.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

from greenloop.core.errors import WorkspaceError
from greenloop.core.records.outcome import Outcome
from greenloop.core.records.spec import Target, TargetKind
from greenloop.plugins.notebooks.adapter import NotebookTarget, free_module_names, load
from greenloop.plugins.notebooks.cell_targets import CellTarget
from greenloop.plugins.notebooks.layout import Notebook
from greenloop.plugins.notebooks.module import compose, last_cell_run
from greenloop.plugins.notebooks.write_back import write_back


def _notebook_of_module(root: Path, module: str) -> str | None:
    """The notebook (workspace path) whose module has that path, or None."""
    if not module.endswith("_ipynb.py") and not module.endswith("_.py"):
        return None
    folder = PurePosixPath(module).parent
    for file in sorted((root / folder).glob("*.ipynb")):
        path = str(folder / file.name)
        if free_module_names(root, path)[0] == module:
            return path
    return None


def prepare_from_run(root: Path, module: str, outcome: Outcome) -> NotebookTarget | None:
    """The input of a past run in the notebook of that module; None: not a notebook's module.

    Raises `WorkspaceError` if the cells are neither those before that run nor those after it.
    """
    path, before = _notebook_of_module(root, module), outcome.before.get(module)
    if path is None or before is None:
        return None
    notebook, text = load(root, path)
    cells_of_run = _restore_cells(notebook, before, outcome.after[module])
    if cells_of_run is None:
        raise WorkspaceError(f"{path} changed since the run.", remedy="Run `greenloop fix` again.")
    notebook, last_cell = cells_of_run
    target = Target(kind=TargetKind.FUNCTION, path=module, qualname="", selector="", start=1, end=1, name_line=1)
    cell_target = CellTarget(cell=last_cell, last_cell=last_cell)
    return NotebookTarget(
        notebook=notebook, cell_target=cell_target, composed=compose(notebook, last_cell), target=target, text=text
    )


def _restore_cells(notebook: Notebook, before: str, after: str) -> tuple[Notebook, int] | None:
    """The cells that a run saw and its last cell, also if its result has been applied to them since; else None."""
    last_cell = last_cell_run(notebook, before)
    if last_cell is not None:
        return notebook, last_cell
    last_cell = last_cell_run(notebook, after)
    original = write_back(notebook, after, before, last_cell) if last_cell is not None else None
    return (
        (original, last_cell)
        if original is not None and last_cell is not None and last_cell_run(original, before) == last_cell
        else None
    )


def title(root: Path, target: str) -> str:
    """A past run's target as the user types it, if it is in a notebook that still exists."""
    name, path = target.partition("::")[2], _notebook_of_target(root, target)
    if path is None:
        return target
    cell_match = re.fullmatch(r"test_cell_(\d+)", name)
    return f"{path}:{cell_match[1]}" if cell_match else f"{path}::{name}"


def label_past(root: Path, target: str, text: str) -> str:
    """A past run's message without line numbers: if the cells have changed since, rows cannot be determined."""
    path = _notebook_of_target(root, target)
    if path is None:
        return text
    module, tests = (re.escape(name) for name in free_module_names(root, path))
    return re.sub(rf"(?:{tests}|{module})(?::\d+)?", lambda _found: path, text)


def _notebook_of_target(root: Path, target: str) -> str | None:
    """The notebook of a past run's target; None if the target was in a Python file, or the notebook is gone."""
    file = PurePosixPath(target.partition("::")[0])
    file_names = (file.name, file.name.removeprefix("test_"))
    return next((path for name in file_names if (path := _notebook_of_module(root, str(file.with_name(name))))), None)
