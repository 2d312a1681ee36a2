"""Which files are hidden."""

from __future__ import annotations

import os
import sys

from greenloop_sandbox.backends._masking import FolderScanner, HiddenPaths


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


def test_more_patterns_do_not_mean_more_work_for_each_file(tmp_path):
    def count_calls(patterns):
        scanner, calls = FolderScanner(tmp_path, patterns, tmp_path / "env"), []
        before = sys.getprofile()
        sys.setprofile(lambda _frame, event, _argument: calls.append(event))
        try:
            scanner.scan()
        finally:
            sys.setprofile(before)
        return len(calls)

    for number in range(20):
        (tmp_path / f"m{number}.py").write_text("")
    assert count_calls([f"*.{number}" for number in range(40)]) == count_calls(["*.pem"])


def test_a_path_is_matched_as_a_whole_and_a_name_alone(tmp_path):
    for name in ("a/k.pem", "b/k.pem", "a/.env", "!keep"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")

    def hidden(*patterns):
        return FolderScanner(tmp_path, patterns, tmp_path / "env").scan().files

    assert hidden("a/*.pem", ".env") == ("a/.env", "a/k.pem")
    assert hidden("a/*.pem") == ("a/k.pem",)
    assert hidden("*.pem", "!b/*") == ("a/k.pem",)


def test_an_interpreter_is_found_below_a_link_to_the_workspace(tmp_path):
    (tmp_path / "w" / ".env" / "py").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "w")
    assert FolderScanner(tmp_path / "link", (".env*",), tmp_path / "w" / ".env" / "py").scan() == HiddenPaths()
