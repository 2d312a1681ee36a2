"""Interpreters that are asked."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from greenloop.core.errors import CannotVerifyError
from greenloop.project import interpreters
from greenloop.project.settings import Settings

VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"
HOME = Path(sys._base_executable).parent
NOTHING = {"PATH": "/nonexistent", "HOME": "/nonexistent"}


def environment(root, environ=None, **settings):
    return interpreters.find_environment(root, Settings(**settings), environ={**NOTHING, **(environ or {})})


def test_the_system_is_asked_when_nothing_else_is_there(tmp_path):
    found = environment(tmp_path, {"PATH": str(HOME)})
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
    assert environment(root, {"PATH": str(shims)}).executable.parent == HOME


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("/nonexistent/python", "does not exist"),
        ("no-such-python", "not on PATH"),
        ("/etc/hostname", "does not answer"),
    ],
)
def test_a_bad_setting_is_named(tmp_path, name, sentence):
    with pytest.raises(CannotVerifyError, match=sentence):
        environment(tmp_path, interpreter=name)
