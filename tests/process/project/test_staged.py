"""What is staged, read from real indexes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from greenloop.core.errors import CannotVerifyError
from greenloop.project.revisions.git import Repository
from greenloop.project.revisions.staged import compare_staged, is_anything_staged
from project_files import write_files

FILES = {
    "m.py": "A = 1\n",
    "n.py": "B = 1\n",
    "data.txt": "1\n",
    "tests/test_m.py": "def test_a():\n    pass\n",
    "pytest.ini": "[pytest]\n",
}


def run(root: Path, *words: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", *identity, *words], cwd=root, check=True, capture_output=True)


@pytest.fixture
def work(tmp_path, monkeypatch) -> Path:
    monkeypatch.delenv("GIT_INDEX_FILE", raising=False)
    root = tmp_path / "a project"
    write_files(root, FILES)
    run(root, "init", "-q")
    run(root, "add", "-A")
    run(root, "commit", "-qm", "x")
    return root


def staged(root: Path, **more):
    repository = Repository.find(root)
    return compare_staged(repository, repository.commit("HEAD"), **more)


def anything(root: Path) -> bool:
    repository = Repository.find(root)
    return is_anything_staged(repository, repository.commit("HEAD"))


def test_nothing_is_staged(work):
    write_files(work, {"m.py": "A = 2\n", "new.py": "C = 1\n"})
    assert not anything(work)
    found = staged(work)
    assert not found.code_changed
    assert found.files == {"m.py": b"A = 1\n"}
    assert found.removed_paths == ("new.py",)


def test_the_index_counts_and_the_working_tree_does_not(work):
    write_files(work, {"m.py": "A = 2\n", "new.py": "C = 1\n"})
    run(work, "add", "-A")
    write_files(
        work, {"m.py": "A = 3\n", "n.py": "B = 2\n", "new.py": "C = 2\n", "extra.py": "D = 1\n", "note.txt": "x"}
    )
    assert anything(work)
    found = staged(work)
    assert found.files == {"m.py": b"A = 2\n", "n.py": b"B = 1\n", "new.py": b"C = 1\n"}
    assert found.old_code == {"m.py": b"A = 1\n"}
    assert found.new_code == ("new.py",)
    assert found.removed_paths == ("extra.py",)
    assert staged(work, keep=("ext*",)).removed_paths == ()


def test_tests_come_from_the_commit_whatever_is_staged(work):
    write_files(work, {"tests/test_m.py": "pass\n", "tests/test_n.py": "staged\n", "conftest.py": "staged\n"})
    run(work, "add", "-A")
    write_files(work, {"tests/test_n.py": "on the disk\n", "tests/test_o.py": "not staged\n"})
    found = staged(work)
    assert found.files == {"tests/test_m.py": FILES["tests/test_m.py"].encode()}
    assert (found.changed, set(found.added)) == (("tests/test_m.py",), {"tests/test_n.py", "conftest.py"})
    assert found.added_files == {"tests/test_n.py": b"staged\n", "conftest.py": b"staged\n"}
    assert found.removed_paths == ("conftest.py", "tests/test_n.py", "tests/test_o.py")
    assert not found.code_changed


def test_what_is_staged_as_deleted_is_gone_though_the_disk_has_it(work):
    run(work, "rm", "-q", "--cached", "n.py", "data.txt", "tests/test_m.py")
    found = staged(work)
    assert found.removed_paths == ("data.txt", "n.py")
    assert set(found.old_code) == {"n.py", "data.txt"}
    assert (found.removed, found.files) == (("tests/test_m.py",), {})


def test_what_the_disk_lacks_comes_from_the_index(work):
    (work / "n.py").unlink()
    (work / "tests/test_m.py").unlink()
    found = staged(work)
    assert found.files == {"n.py": b"B = 1\n", "tests/test_m.py": FILES["tests/test_m.py"].encode()}


def test_a_commit_of_one_file_has_an_index_of_its_own(work, monkeypatch):
    other = work / ".git/other index"
    monkeypatch.setenv("GIT_INDEX_FILE", str(other))
    write_files(work, {"m.py": "A = 2\n"})
    run(work, "read-tree", "HEAD")
    run(work, "add", "m.py")
    assert staged(work).old_code == {"m.py": b"A = 1\n"}
    monkeypatch.chdir(work)
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/other index")
    assert staged(work).old_code == {"m.py": b"A = 1\n"}
    monkeypatch.delenv("GIT_INDEX_FILE")
    assert not anything(work)


def test_a_workspace_in_a_folder_of_the_repository_sees_its_own_files(work):
    write_files(work, {"sub/p.py": "P = 1\n", "m.py": "A = 2\n"})
    run(work, "add", "-A")
    run(work, "commit", "-qm", "y")
    write_files(work, {"sub/p.py": "P = 2\n", "m.py": "A = 3\n"})
    run(work, "add", "-A")
    assert staged(work / "sub").old_code == {"p.py": b"P = 1\n"}


def test_an_edit_of_the_index_or_of_the_disk_changes_the_state(work):
    write_files(work, {"m.py": "A = 2\n"})
    run(work, "add", "-A")
    first = staged(work).state
    assert staged(work).state == first
    write_files(work, {"n.py": "B = 2\n"})
    second = staged(work).state
    run(work, "add", "-A")
    assert len({first, second, staged(work).state}) == 3


def test_conflicts_end_it(work):
    write_files(work, {"m.py": "A = 2\n"})
    run(work, "commit", "-qam", "y")
    run(work, "checkout", "-qb", "other", "HEAD~1")
    write_files(work, {"m.py": "A = 3\n"})
    run(work, "commit", "-qam", "z")
    with pytest.raises(subprocess.CalledProcessError):
        run(work, "merge", "-")
    with pytest.raises(CannotVerifyError, match=r"m\.py has conflicts"):
        staged(work)


def test_a_link_on_the_disk_is_not_followed(work, tmp_path):
    (tmp_path / "elsewhere.py").write_text("E = 1\n")
    (work / "m.py").unlink()
    os.symlink(tmp_path / "elsewhere.py", work / "m.py")
    with pytest.raises(CannotVerifyError, match=r"m\.py is a symbolic link"):
        staged(work)


def test_nothing_of_the_repository_is_run_or_written(work, tmp_path):
    mark, script = tmp_path / "sprung", tmp_path / "trap.sh"
    script.write_text(f"#!/bin/sh\ntouch '{mark}'\ncat\n")
    script.chmod(0o755)
    write_files(work, {"m.py": "A = 2\n"})
    run(work, "add", "-A")
    (work / ".git/info").mkdir(exist_ok=True)
    (work / ".git/info/attributes").write_text("* filter=evil\n")
    for key in ("core.fsmonitor", "filter.evil.smudge", "filter.evil.clean"):
        run(work, "config", key, str(script))
    index = (work / ".git/index").read_bytes()
    assert staged(work).old_code
    assert not mark.exists()
    assert (work / ".git/index").read_bytes() == index
