"""What identifies the state of a project's files: every change is seen, caches and environments are not looked at."""

from __future__ import annotations

import os

import pytest

from greenloop.project.snapshot import read_stamps


@pytest.fixture
def root(tmp_path):
    for name in ("m.py", "data/values.txt", ".hidden/a"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("1\n")
    return tmp_path


@pytest.mark.parametrize("name", ["m.py", "data/values.txt", ".hidden/a"])
def test_every_change_is_seen(root, name):
    before = read_stamps([root])
    assert read_stamps([root]) == before
    file = root / name
    file.write_text(file.read_text() + "x")
    assert read_stamps([root]) != before


def test_a_file_of_the_same_size_and_time_in_another_place_is_seen(root):
    before, status = read_stamps([root]), (root / "m.py").stat()
    (root / "other.py").write_text("4\n")
    os.utime(root / "other.py", ns=(status.st_atime_ns, status.st_mtime_ns))
    (root / "other.py").replace(root / "m.py")
    assert read_stamps([root]) != before


def test_new_and_removed_files_are_seen(root):
    before = read_stamps([root])
    (root / "new.py").touch()
    assert read_stamps([root]) != before
    (root / "new.py").unlink()
    assert read_stamps([root]) == before


@pytest.mark.parametrize("folder", [".git", "__pycache__", "node_modules", "data/__pycache__"])
def test_caches_are_left_out(root, folder):
    before = read_stamps([root])
    (root / folder).mkdir()
    (root / folder / "x").touch()
    assert read_stamps([root]) == before


def test_virtual_environments_are_left_out(root):
    (root / "env").mkdir()
    (root / "env" / "pyvenv.cfg").touch()
    before = read_stamps([root])
    (root / "env" / "x").touch()
    assert read_stamps([root]) == before


def test_too_many_files_are_not_looked_at(root):
    assert read_stamps([root], most=2) is None
