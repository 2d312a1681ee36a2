"""Virtual environments of files alone, whose Python leaves a mark if it is ever run."""

from __future__ import annotations

import sys
from pathlib import Path

from greenloop.project.environment import interpreters
from greenloop.project.settings import Settings

VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"
HOME = Path(sys._base_executable).parent
NOTHING = {"PATH": "/nonexistent", "HOME": "/nonexistent"}


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


def find_environment(root, environ=None, tests=(), own=Path(sys.prefix), **settings):
    environ = {**NOTHING, **(environ or {})}
    return interpreters.find_environment(root, Settings(**settings), environ=environ, tests=tests, own=own)
