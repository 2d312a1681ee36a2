"""Which files are hidden."""

from __future__ import annotations

import os

from greenloop.sandboxes.backends._masking import FolderScanner, HiddenPaths


def test_hidden_files_are_found_and_kept_up_to_date(tmp_path):
    for name in (
        ".env",
        "a/b/.env.local",
        "a/k.pem",
        ".git/config",
        "node_modules/x/.env",
        ".venv/c.pem",
        "env/c.pem",
        "ok.py",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    (tmp_path / "secret.txt").write_text("x")
    (tmp_path / ".env.link").symlink_to("secret.txt")
    (tmp_path / ".env.out").symlink_to("/etc/passwd")
    search = FolderScanner(tmp_path, (".env*", "*.pem", ".git", "a/ok*"), tmp_path / "env")
    assert search.scan() == HiddenPaths(files=(".env", "a/b/.env.local", "a/k.pem", "secret.txt"), folders=(".git",))
    (tmp_path / "a" / "new.pem").write_text("x")
    (tmp_path / ".env").unlink()
    os.utime(tmp_path, ns=(1, 1))
    os.utime(tmp_path / "a", ns=(1, 1))
    assert search.scan() == HiddenPaths(
        files=("a/b/.env.local", "a/k.pem", "a/new.pem", "secret.txt"), folders=(".git",)
    )


def test_an_interpreter_in_a_hidden_looking_folder_stays(tmp_path):
    (tmp_path / ".env" / "py" / "bin").mkdir(parents=True)
    assert FolderScanner(tmp_path, (".env*",), tmp_path / ".env").scan() == HiddenPaths()
    assert FolderScanner(tmp_path, (".env*",), tmp_path / ".env" / "py").scan() == HiddenPaths()
