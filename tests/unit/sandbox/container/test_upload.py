"""Which files travel into a container."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from greenloop.core.errors import CannotVerifyError
from greenloop_sandbox.container import upload

MASKED = (".env*", "*.pem", ".git", "private/*.txt")


def laid(root: Path, *paths: str) -> Path:
    for path in paths:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(path)
    return root


@pytest.mark.parametrize(
    ("path", "travels"),
    [
        ("m.py", True),
        ("pkg/sub/data.json", True),
        (".coveragerc", True),
        ("build/lib.py", True),
        (".env", False),
        ("pkg/.env.local", False),
        ("certs/key.pem", False),
        ("private/a.txt", False),
        ("a.txt", True),
        (".git/config", False),
        ("pkg/__pycache__/m.pyc", False),
        ("pkg/m.pyc", False),
        (".venv/lib/x.py", False),
        ("node_modules/x/index.js", False),
        (".mypy_cache/x.json", False),
        ("odd\\name.py", False),
    ],
)
def test_which_files_travel(tmp_path, path, travels):
    assert set(upload.scan(laid(tmp_path, path), MASKED).files) == ({path} if travels else set())


def test_a_virtual_environment_by_any_name_stays(tmp_path):
    laid(tmp_path, "env311/pyvenv.cfg", "env311/lib/x.py", "m.py")
    assert set(upload.scan(tmp_path, ()).files) == {"m.py"}


def test_links_travel_only_when_they_stay_inside_and_lead_to_nothing_hidden(tmp_path):
    root = laid(tmp_path / "w", "m.py", "pkg/a.py", ".env")
    laid(tmp_path, "outside.py", "folder/b.py")
    for link, target in {
        "file.py": root / "m.py",
        "linked": root / "pkg",
        "out.py": tmp_path / "outside.py",
        "out": tmp_path / "folder",
        "secret.txt": root / ".env",
        "loop": root,
        "broken.py": root / "nowhere",
    }.items():
        (root / link).symlink_to(target)
    assert set(upload.scan(root, MASKED).files) == {"m.py", "file.py", "pkg/a.py", "linked/a.py"}


def test_a_pipe_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert upload.scan(tmp_path, ()).files == {}


@pytest.mark.parametrize(
    ("size", "most_files", "said"),
    [(upload.MAX_BYTES + 1, 1000, "data/big alone"), (1, 4, "many alone has 5 files")],
)
def test_too_much_names_the_biggest_folder(tmp_path, size, most_files, said):
    laid(tmp_path, "data/big/x", *(f"many/{number}" for number in range(5)))
    os.truncate(tmp_path / "data/big/x", size)
    with pytest.raises(CannotVerifyError, match=said) as caught:
        upload.scan(tmp_path, (), most_files)
    assert "bubblewrap" in caught.value.remedy


def test_contents_come_in_batches_without_what_vanished(tmp_path):
    laid(tmp_path, "a.py", "b.py", "c.py")
    batches = list(upload.read_batches(tmp_path, ["a.py", "gone.py", "b.py", "c.py"], most_bytes=6))
    assert batches == [{"a.py": b"a.py", "b.py": b"b.py"}, {"c.py": b"c.py"}]


def test_empty_folders_and_executable_files_travel(tmp_path):
    laid(tmp_path, "bin/tool", "m.py")
    (tmp_path / "bin/tool").chmod(0o755)
    (tmp_path / "var/empty").mkdir(parents=True)
    (tmp_path / ".git/refs").mkdir(parents=True)
    found = upload.scan(tmp_path, MASKED)
    assert found.folders == {"bin", "var", "var/empty"}
    assert {path for path, stamp in found.files.items() if stamp.executable} == {"bin/tool"}


def test_a_stamp_tells_that_a_file_changed(tmp_path):
    before = upload.scan(laid(tmp_path, "a.py"), ())
    assert upload.scan(tmp_path, ()) == before
    os.utime(tmp_path / "a.py", ns=(1, 1))
    assert upload.scan(tmp_path, ()) != before
