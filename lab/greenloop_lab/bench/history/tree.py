"""The project of a task of a repository's history: the tree before a commit, with the commit's own tests.

It is laid out in a folder of its own, so nothing of what came later can be read there; the interpreter is the
repository's own or a named one.
"""

from __future__ import annotations

import os
from dataclasses import replace
from glob import escape
from pathlib import Path

from greenloop.core.errors import CannotVerifyError
from greenloop.project import hidden
from greenloop.project.environment import interpreters
from greenloop.project.revisions.git import Repository
from greenloop.project.revisions.judging import role_by_name
from greenloop.project.settings import Settings
from greenloop.project.sources import file_patterns, import_roots
from greenloop_lab.bench.history import git_history
from greenloop_sandbox.locks.project import read_project


def lay_out(repository: Repository, commit: str, folder: Path) -> Path:
    """The project below an empty folder. Its name is the repository's, as tests may depend on it.

    Raises `CannotVerifyError` where an object is not in this clone.
    """
    found = git_history.read_commits(repository, repository.commit(commit), most=1)
    if not found:
        raise CannotVerifyError(f"The commit before {commit[:12]} is not in this clone.", remedy="Fetch the history.")
    root = folder / (repository.root.name or "project")
    root.mkdir()
    git_history.lay_out_commit(repository, found[0].parent, root)
    lay_over(repository, found[0], root, judging=True)
    return root


def lay_over(repository: Repository, commit: git_history.Commit, root: Path, *, judging: bool) -> None:
    """Writes those of the commit's files that judge, or the others, over the tree before it."""
    patterns = file_patterns(repository.root)
    changes = [each for each in commit.changes if bool(role_by_name(each.path, patterns)) is judging]
    contents = git_history.blobs(repository, changes)
    for change in changes:
        file = root / change.path
        if change.new:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(contents[change.new])
        else:
            file.unlink(missing_ok=True)


def find_interpreter(root: Path, settings: Settings) -> str:
    """The Python that runs the tests of every commit. Raises `CannotVerifyError` where there is none."""
    return str(interpreters.find_environment(root, settings).executable)


def settings_of(settings: Settings, interpreter: str) -> Settings:
    """The settings for a laid out project, whose own folder has no environment."""
    return replace(settings, interpreter=interpreter)


def show_test_data(settings: Settings, root: Path) -> Settings:
    """The settings for a laid out project, which is no repository: all of it is committed, so test data is shown."""
    sandbox = settings.sandbox
    return replace(settings, sandbox=replace(sandbox, expose=[*sandbox.expose, *map(escape, find_test_data(root))]))


def find_test_data(root: Path) -> list[str]:
    """Files below folders of tests that would be hidden, in a folder where all files are known to be committed."""
    found = []
    for folder, _folders, names in os.walk(root):
        relative = Path(folder).relative_to(root).as_posix().removeprefix(".")
        found += [
            path for name in names if hidden.is_test_data(path := f"{relative}/{name}".lstrip("/"), hidden.MASKED)
        ]
    return sorted(found)


def variables(root: Path, settings: Settings) -> dict[str, str]:
    """Environment variables of the tests: the tree's code is imported before what the interpreter has installed of the
    project, as an editable install names the repository's folder, which is of another time.
    """
    if settings.sandbox.kind == "docker":
        return {}  # containers import the tree's source folders anyway
    folders = dict.fromkeys(["", *import_roots(root), *read_project(root).sources])
    return {"PYTHONPATH": os.pathsep.join(str(root / each) if each else str(root) for each in folders)}
