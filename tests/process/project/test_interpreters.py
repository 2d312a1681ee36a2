"""Interpreters that are asked."""

from __future__ import annotations

import sys

import pytest

from greenloop.core.errors import CannotVerifyError
from virtual_environments import HOME, VERSION, find_environment, make_venv


def test_the_system_is_asked_when_nothing_else_is_there(tmp_path):
    found = find_environment(tmp_path, {"PATH": str(HOME)})
    assert found.source == "PATH"
    assert found.version == sys.version_info[:2]
    assert (found.base / "lib" / f"python{VERSION}" / "os.py").is_file()


def test_a_shim_is_seen_through(tmp_path):
    shims = tmp_path / "shims"
    shims.mkdir()
    shim = shims / "python3"
    shim.write_text(f'#!/bin/sh\nexec {HOME}/python{VERSION} "$@"\n')
    shim.chmod(0o755)
    root = tmp_path / "root"
    root.mkdir()
    assert find_environment(root, {"PATH": str(shims)}).executable.parent == HOME


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("/nonexistent/python", "does not exist"),
        ("no-such-python", "not on PATH"),
        ("/etc/hostname", "does not run as a Python interpreter"),
    ],
)
def test_a_bad_setting_is_named(tmp_path, name, sentence):
    with pytest.raises(CannotVerifyError, match=sentence):
        find_environment(tmp_path, interpreter=name)


def test_greenloops_own_private_environment_is_passed_over(tmp_path):
    private = make_venv(tmp_path / "pipx" / "venvs" / "greenloop")
    (private / "bin" / "python").rename(private / "bin" / "python3")
    root = tmp_path / "root"
    root.mkdir()
    path = {"PATH": f"{private / 'bin'}:{HOME}"}
    assert find_environment(root, path, own=private).prefix != private
    assert find_environment(root, {**path, "VIRTUAL_ENV": str(private)}, own=private).prefix == private


def test_the_environment_that_pre_commit_made_for_a_hook_is_not_the_projects(tmp_path):
    """It is the active one while the hook runs; the user's own follows on PATH."""
    hook, own = make_venv(tmp_path / "pre-commit/repo1/py_env-python3"), make_venv(tmp_path / "own")
    root = tmp_path / "root"
    root.mkdir()
    environ = {"VIRTUAL_ENV": str(hook), "PATH": f"{hook / 'bin'}:{own / 'bin'}"}
    assert find_environment(root, environ).prefix == hook  # greenloop is not in it
    assert find_environment(root, environ, own=hook).executable.is_relative_to(own)
