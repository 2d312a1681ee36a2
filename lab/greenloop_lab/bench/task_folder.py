"""Lays out the folder in which a task is given to the engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from greenloop.core.errors import UsageError
from greenloop.project import sources
from greenloop.project.revisions.git import Repository
from greenloop.project.settings import Settings
from greenloop_lab.bench.history import tree as history_tree
from greenloop_lab.bench.tasks import Task


@dataclass(frozen=True, kw_only=True)
class Place:
    """The folder for the engine, and the environment variables of its tests."""

    root: Path
    variables: Mapping[str, str] = field(default_factory=dict)


def lay_out_task(task: Task, folder: Path, settings: Settings) -> Place:
    """The user's own folder, unchanged, or a new one with the task's files.

    Raises `UsageError` where the user's folder has changed, `CannotVerifyError` where a commit is not in it any more.
    """
    if task.commit:
        root = history_tree.lay_out(Repository.find(Path(task.folder)), task.commit, folder)
        return Place(root=root, variables=history_tree.variables(root, settings))
    if task.folder:
        root = Path(task.folder)
        for path, text in task.solution.items():
            if sources.read_text(root, path) != text:
                raise UsageError(
                    f"{root / path} has changed since {task.id} was made from it.", remedy="Make the tasks again."
                )
        return Place(root=root)
    root = folder / "project"
    for path, text in task.files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return Place(root=root)
