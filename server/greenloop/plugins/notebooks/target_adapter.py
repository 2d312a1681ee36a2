"""The adapter of notebooks, which the entry point names: targets typed by the user, and those of past runs."""

from __future__ import annotations

from pathlib import Path

from greenloop.core.records.outcome import Outcome
from greenloop.plugins.notebooks.adapter import NotebookTarget, load, prepare
from greenloop.plugins.notebooks.cell_targets import parse_target
from greenloop.plugins.notebooks.past_runs import label_past, prepare_from_run, title

__all__ = ["adapt", "label_past", "of_run", "owns", "title"]


def owns(file: str) -> bool:
    return file.endswith(".ipynb")


def adapt(root: Path, file: str, rest: str) -> NotebookTarget:
    """Loads the notebook of a target. Raises `UsageError` that lists the targets if the name is ambiguous."""
    notebook, text = load(root, file)
    return prepare(notebook, parse_target(notebook, rest), text)


def of_run(root: Path, outcome: Outcome) -> NotebookTarget | None:
    """The target of a past run; None: not a notebook's. Raises `WorkspaceError` if its cells have changed since."""
    return next((found for path in outcome.after if (found := prepare_from_run(root, path, outcome))), None)
