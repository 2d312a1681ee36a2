"""Reading a history: real repositories."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from git_program import git
from greenloop.core.errors import CannotVerifyError, UsageError
from greenloop.project.revisions.git import Repository
from greenloop_lab.bench.history.git_history import blobs, lay_out_commit, read_commits


def commit(root: Path, **files: str | None) -> str:
    for name, text in files.items():
        file = root / f"{name}.py".replace("__", "/")
        file.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            file.unlink()
        else:
            file.write_text(text)
    git(root, "add", "-A")
    git(root, "commit", "-qm", "x", "--allow-empty")
    return git(root, "rev-parse", "HEAD")


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "a project"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    return root


def changed(commits):
    return [[(each.path, bool(each.old), bool(each.new)) for each in one.changes] for one in commits]


def test_commits_come_newest_first_with_what_they_changed(root):
    ids = [commit(root, a="1\n"), commit(root, a="2\n", sub__ä="1\n"), commit(root), commit(root, a=None)]
    repository = Repository.find(root)
    found = read_commits(repository, "", most=10)
    assert [each.id for each in found] == ids[:0:-1]
    assert [each.parent for each in found] == ids[-2::-1]
    assert changed(found) == [[("a.py", True, False)], [], [("a.py", True, True), ("sub/ä.py", False, True)]]
    (new, _old), *_ = [sorted(blobs(repository, [found[2].changes[0]]).values(), reverse=True)]
    assert new == b"2\n"
    assert [each.id for each in read_commits(repository, "", most=2)] == ids[:1:-1]
    assert [each.id for each in read_commits(repository, f"{ids[0]}..{ids[2]}", most=9)] == [ids[2], ids[1]]
    assert read_commits(repository, f"{ids[3]}..", most=9) == []


def test_a_subfolder_has_its_own_changes_only(root):
    commit(root, a="1\n")
    commit(root, a="2\n", sub__b="1\n")
    (found,) = read_commits(Repository.find(root / "sub"), "", most=9)
    assert changed([found]) == [[("b.py", False, True)]]


def test_merges_links_and_submodules_are_left_out(root):
    commit(root, a="1\n")
    git(root, "checkout", "-qb", "side")
    side = commit(root, b="1\n")
    git(root, "checkout", "-q", "main")
    (root / "link.py").symlink_to("a.py")
    with_link = commit(root, c="1\n")
    git(root, "merge", "-q", "--no-ff", "side", "-m", "merge")
    found = read_commits(Repository.find(root), "", most=9)
    assert {each.id: [change.path for change in each.changes] for each in found} == {
        side: ["b.py"],
        with_link: ["c.py"],
    }


@pytest.mark.parametrize("revisions", ["absent", "absent..main", "main..absent", "a...b", "--all"])
def test_a_revision_that_does_not_exist_is_told(root, revisions):
    commit(root, a="1\n")
    with pytest.raises(UsageError):
        read_commits(Repository.find(root), revisions, most=9)


def test_a_shallow_clone_has_the_commits_that_it_can_compare(root, tmp_path):
    ids = [commit(root, a=f"{number}\n") for number in range(4)]
    git(tmp_path, "clone", "-q", "--depth=2", root.as_uri(), "shallow")
    repository = Repository.find(tmp_path / "shallow")
    assert [each.id for each in read_commits(repository, "", most=9)] == [ids[3]]
    with pytest.raises(UsageError, match="no commit"):
        read_commits(repository, ids[1], most=9)


def test_a_laid_out_tree_has_its_history_and_nothing_later(root, tmp_path):
    first = commit(root, a="1\n")
    (root / "run").write_text("#!/bin/sh\n")
    (root / "run").chmod(0o755)
    (root / "inside").symlink_to("a.py")
    (root / "outside").symlink_to("../../secret")
    second = commit(root, sub__b="2\n")
    commit(root, a="3\n", later="4\n")
    state = git(root, "status", "--porcelain")
    folder = tmp_path / "tree"
    folder.mkdir()
    lay_out_commit(Repository.find(root), second, folder)
    names = {str(each.relative_to(folder)) for each in folder.rglob("*") if ".git" not in each.parts}
    assert names == {"a.py", "sub", "sub/b.py", "run", "inside"}
    assert (folder / "a.py").read_text() == "1\n"
    assert os.access(folder / "run", os.X_OK)
    assert (folder / "inside").readlink() == Path("a.py")
    assert git(folder, "log", "--format=%H", "--all", "HEAD").split() == [second, first]
    assert Repository.find(folder).tree(second).entries.keys() >= {"a.py", "sub/b.py"}
    assert git(root, "status", "--porcelain") == state


def test_a_commit_that_is_not_in_the_clone_is_told(root, tmp_path):
    commit(root, a="1\n")
    (tmp_path / "tree").mkdir()
    with pytest.raises(CannotVerifyError):
        lay_out_commit(Repository.find(root), "1" * 40, tmp_path / "tree")
