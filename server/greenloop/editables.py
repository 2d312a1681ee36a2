"""Folders outside an environment that its editable installs name, read from their files; nothing of them is run.

A `.pth` file names folders, or imports a finder beside it that has them as constants. An environment may have come with
a repository, so what it names is believed only where it is the folder of a Python project, or lies in one.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

_PROJECT = ("pyproject.toml", "setup.py", "setup.cfg")
_IMPORT = re.compile(r"import[ \t]+(\w+)")
_MOST = 64  # folders; nobody works on more projects at once
_LONGEST = 1 << 20  # bytes of a finder, which lists every file of its project


def folders(site_packages: Iterable[Path], *, shown: Iterable[Path]) -> tuple[Path, ...]:
    """Existing folders and single modules as they are named, without what lies in one of `shown` or in each other."""
    seen = [path.resolve() for path in shown]
    home = Path.home().resolve()
    found: list[Path] = []
    named = {path: path.resolve() for folder in site_packages for path in _named(folder)}
    for path, real in sorted(named.items(), key=lambda pair: (len(pair[1].parts), pair)):
        if not any(real.is_relative_to(other) for other in seen) and _believed(real, home):
            found.append(path)
            seen.append(real)
    return tuple(found[:_MOST])


def _named(site_packages: Path) -> Iterator[Path]:
    for file in sorted(site_packages.glob("*.pth")):
        for line in _text(file).splitlines():
            if finder := _IMPORT.match(line):
                yield from _constants(site_packages / f"{finder[1]}.py")
            elif line.strip() and not line.startswith("#"):
                path = site_packages / line.strip()
                if path.is_dir():
                    yield path


def _constants(finder: Path) -> Iterator[Path]:
    """The absolute paths that stand in a finder's source: setuptools, scikit-build-core and meson-python all do so."""
    try:
        tree = ast.parse(_text(finder))
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and os.path.isabs(node.value):  # noqa: PTH117
            for path in (Path(node.value), Path(f"{node.value}.py")):
                if path.is_dir() or path.is_file():
                    yield path


def _text(file: Path) -> str:
    try:
        with file.open(encoding="utf-8", errors="replace") as stream:
            return stream.read(_LONGEST)
    except OSError:
        return ""


def _believed(path: Path, home: Path) -> bool:
    """Neither `/` nor the home folder, nothing hidden, and a project's mark in it or above it."""
    if path == home or path in home.parents:
        return False
    below = path.relative_to(home) if path.is_relative_to(home) else path
    if any(part.startswith(".") for part in below.parts):
        return False
    above = [folder for folder in (path, *path.parents) if folder != home and folder not in home.parents]
    return any((folder / mark).is_file() for folder in above for mark in _PROJECT)
