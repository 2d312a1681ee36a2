"""Which files are hidden from the tests, and which test data is not."""

from __future__ import annotations

import pytest

from git_program import git
from greenloop.project import hidden
from greenloop.project.settings import SandboxSettings, Settings
from project_files import write_files


def test_masked_less_what_is_exposed():
    everything = hidden.masked_patterns(Settings())
    assert {".env*", "*.pem", ".git", ".ssh", "credentials*"} <= set(everything)
    shown = hidden.masked_patterns(Settings(sandbox=SandboxSettings(expose=[".env*", ".git"])))
    assert set(everything) - set(shown) == {".env*", ".git"}


@pytest.mark.parametrize(
    ("path", "is_hidden"),
    [(".env", True), ("a/.env.local", True), (".git/config", True), ("a/server.key", True), ("m.py", False)],
)
def test_is_masked(path, is_hidden):
    assert hidden.is_masked(path, hidden.MASKED) is is_hidden


def test_a_path_that_is_exposed_is_shown_alone():
    patterns = hidden.masked_patterns(Settings(sandbox=SandboxSettings(expose=["certs/*.key"])))
    assert not hidden.is_masked("certs/server.key", patterns)
    assert hidden.is_masked("server.key", patterns)
    assert hidden.is_masked("more/certs/server.key", patterns)


KEYS = {
    "tests/server.key": "a",
    "pkg/test/[1].pem": "b",
    "pkg/unit_tests/data/.env": "A=1",
    "tests/changed.key": "c",
    "contest/server.key": "d",
    "server.key": "e",
    ".env": "B=2",
}


def test_tracked_test_data_is_shown(tmp_path):
    write_files(tmp_path, {**KEYS, "tests/new.key": "f"})
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", *KEYS)
    (tmp_path / "tests/changed.key").write_text("a key of my own")
    everything = {**KEYS, "tests/new.key": ""}
    patterns = hidden.masked_patterns(Settings(), tmp_path)
    shown = {"tests/server.key", "pkg/test/[1].pem", "pkg/unit_tests/data/.env"}
    assert {path for path in everything if not hidden.is_masked(path, patterns)} == shown
    inner = hidden.masked_patterns(Settings(), tmp_path / "pkg")
    assert not hidden.is_masked("test/[1].pem", inner)


def test_nothing_is_test_data_where_nothing_is_tracked(tmp_path):
    write_files(tmp_path, KEYS)
    assert hidden.masked_patterns(Settings(), tmp_path) == hidden.MASKED
