"""The one way to write."""

from __future__ import annotations

import errno
import os
import stat

import pytest

from greenloop.core.errors import WorkspaceError
from greenloop.project.atomic_write import write_atomically


def test_write_keeps_mode_and_leaves_nothing_behind(tmp_path):
    file = tmp_path / "a b#.py"
    file.write_bytes(b"old")
    file.chmod(0o750)
    write_atomically(file, b"new\r\n", b"old")
    assert file.read_bytes() == b"new\r\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o750
    assert [file.name for file in tmp_path.iterdir()] == ["a b#.py"]


def test_write_makes_new_files_and_folders(tmp_path):
    file = tmp_path / "pkg" / "m.py"
    write_atomically(file, b"x", None)
    assert file.read_bytes() == b"x"
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(file.stat().st_mode) == 0o666 & ~mask


def test_write_follows_a_link(tmp_path):
    (tmp_path / "real.py").write_bytes(b"old")
    (tmp_path / "link.py").symlink_to("real.py")
    write_atomically(tmp_path / "link.py", b"new", b"old")
    assert (tmp_path / "link.py").is_symlink()
    assert (tmp_path / "real.py").read_bytes() == b"new"


def test_all_names_of_a_file_show_the_new_content(tmp_path):
    (tmp_path / "one.py").write_bytes(b"old and longer")
    os.link(tmp_path / "one.py", tmp_path / "other.py")
    write_atomically(tmp_path / "one.py", b"new", b"old and longer")
    assert (tmp_path / "one.py").read_bytes() == (tmp_path / "other.py").read_bytes() == b"new"
    with pytest.raises(WorkspaceError, match="has changed"):
        write_atomically(tmp_path / "one.py", b"newer", b"old")


@pytest.mark.parametrize(
    ("now", "expected", "sentence"),
    [
        (b"other", b"old", "has changed"),
        (None, b"old", "has been deleted"),
        (b"there", None, "has been created"),
    ],
)
def test_write_refuses_what_moved_on(tmp_path, now, expected, sentence):
    file = tmp_path / "m.py"
    if now is not None:
        file.write_bytes(now)
    with pytest.raises(WorkspaceError, match=sentence):
        write_atomically(file, b"new", expected)
    assert [file.name for file in tmp_path.iterdir()] == ([] if now is None else ["m.py"])
    assert now is None or file.read_bytes() == now


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (errno.ENOSPC, "the disk is full"),
        (errno.EROFS, "read-only"),
        (errno.EACCES, "not have write permission"),
        (errno.EIO, "error"),
    ],
)
def test_write_says_why_it_could_not(tmp_path, number, sentence):
    file = tmp_path / "m.py"
    file.write_bytes(b"old")

    def refuse(_descriptor):
        raise OSError(number, os.strerror(number))

    with pytest.raises(WorkspaceError, match=sentence):
        write_atomically(file, b"new", b"old", sync=refuse)
    assert file.read_bytes() == b"old"
    assert [file.name for file in tmp_path.iterdir()] == ["m.py"]


def test_write_respects_a_read_only_file(tmp_path, monkeypatch):
    file = tmp_path / "m.py"
    file.write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    with pytest.raises(WorkspaceError, match="not have write permission"):
        write_atomically(file, b"new", b"old")
    assert file.read_bytes() == b"old"
