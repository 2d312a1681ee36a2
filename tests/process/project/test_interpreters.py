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
        ("/etc/hostname", "does not run as a Python interpreter"),
    ],
)
def test_a_bad_setting_is_named(tmp_path, name, sentence):
    with pytest.raises(CannotVerifyError, match=sentence):
        environment(tmp_path, interpreter=name)


def make_venv(folder, *, version=VERSION, home=HOME, key="version", extra="", pytest_too=False):
    (folder / "bin").mkdir(parents=True)
    trap = folder / "bin" / "python"
    # Running it would leave a mark: nothing may.
    trap.write_text(f"#!/bin/sh\ntouch {folder}/ran\n")
    trap.chmod(0o755)
    (folder / "pyvenv.cfg").write_text(
        f"home = {home}\ninclude-system-site-packages = false\n{key} = {version}\n{extra}"
    )
    packages = folder / "lib" / f"python{'.'.join(version.split('.')[:2])}" / "site-packages"
    packages.mkdir(parents=True)
    if pytest_too:
        (packages / "pytest").mkdir()
        (packages / "pytest" / "__init__.py").touch()
    return folder


def test_greenloops_own_private_environment_is_passed_over(tmp_path, monkeypatch):
    private = make_venv(tmp_path / "pipx" / "venvs" / "greenloop")
    (private / "bin" / "python").rename(private / "bin" / "python3")
    root = tmp_path / "root"
    root.mkdir()
    path = {"PATH": f"{private / 'bin'}:{HOME}"}
    monkeypatch.setattr(sys, "prefix", str(private))
    assert environment(root, path).prefix != private
    assert environment(root, {**path, "VIRTUAL_ENV": str(private)}).prefix == private
