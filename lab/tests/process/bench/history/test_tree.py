"""The project of a task: real repositories."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from git_program import git
from greenloop.core.errors import CannotVerifyError
from greenloop.project import configuration
from greenloop.project.revisions.git import Repository
from greenloop_lab.bench.history import tree as history_tree


def commit(root: Path, files: dict[str, str | None]) -> str:
    for name, text in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            file.unlink()
        else:
            file.write_text(text)
    git(root, "add", "-A")
    git(root, "commit", "-qm", "x")
    return git(root, "rev-parse", "HEAD")


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "words"
    root.mkdir()
    git(root, "init", "-q")
    commit(root, {"src/m.py": "A = 1\n", "tests/test_m.py": "old\n", "tests/test_gone.py": "gone\n", "notes": "1\n"})
    return root


def texts(folder):
    paths = [path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts]
    return {str(path.relative_to(folder)): path.read_text() for path in paths}


def test_a_tree_has_the_code_before_and_the_tests_after(root, tmp_path):
    fix = {"src/m.py": "A = 2\n", "tests/test_m.py": "new\n", "tests/test_gone.py": None}
    fixed = commit(root, fix | {"tests/data/a.txt": "b\n", "notes": "2\n"})
    commit(root, {"src/m.py": "A = 3\n"})
    (tmp_path / "place").mkdir()
    tree = history_tree.lay_out(Repository.find(root), fixed, tmp_path / "place")
    assert tree.name == "words"
    assert texts(tree) == {
        "src/m.py": "A = 1\n",
        "tests/test_m.py": "new\n",
        "tests/data/a.txt": "b\n",
        "notes": "1\n",
    }


def test_the_first_commit_has_no_tree_before(root, tmp_path):
    first = git(root, "rev-parse", "HEAD")
    with pytest.raises(CannotVerifyError, match=f"before {first[:12]} is not in this clone"):
        history_tree.lay_out(Repository.find(root), first, tmp_path)


def test_the_tree_is_imported_before_what_is_installed(root):
    settings, _ = configuration.load(None, environ={})
    assert history_tree.variables(root, settings) == {"PYTHONPATH": f"{root}{os.pathsep}{root / 'src'}"}
    container, _ = configuration.load(None, command_line={"sandbox.kind": "docker"}, environ={})
    assert history_tree.variables(root, container) == {}
