"""Finds the source folders of an environment's editable installs without running anything.

A `.pth` file lists folders, or imports a finder in the same folder that has them as constants. An environment may be
part of a repository, so a path is accepted only if it is a Python project or lies in one.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from greenloop.core.python.ast_source import UNPARSABLE
from greenloop.core.text.encoding import read_or_empty

_PROJECT = ("pyproject.toml", "setup.py", "setup.cfg")
_IMPORT = re.compile(r"import[ \t]+(\w+)")
_MOST = 64  # folders; more projects than anyone edits at once
_LONGEST = 1 << 20  # characters of a finder, which lists every file of its project


def source_folders(site_packages: Iterable[Path], *, visible: Iterable[Path]) -> tuple[Path, ...]:
    """Existing folders and single modules, as spelled there, without those inside `visible` or inside each other."""
    covered = [path.resolve() for path in visible]
    home_folder = Path.home().resolve()
    accepted: list[Path] = []
    candidates = {path: path.resolve() for folder in site_packages for path in _listed_paths(folder)}
    for path, resolved in sorted(candidates.items(), key=lambda pair: (len(pair[1].parts), pair)):
        if not any(resolved.is_relative_to(outer) for outer in covered) and _is_project_path(resolved, home_folder):
            accepted.append(path)
            covered.append(resolved)
    return tuple(accepted[:_MOST])


def _listed_paths(site_packages: Path) -> Iterator[Path]:
    for pth_file in sorted(site_packages.glob("*.pth")):
        for line in read_or_empty(pth_file, most=_LONGEST).splitlines():
            if finder := _IMPORT.match(line):
                yield from _constants(site_packages / f"{finder[1]}.py")
            elif line.strip() and not line.startswith("#"):
                path = site_packages / line.strip()
                if path.is_dir():
                    yield path


def _constants(finder: Path) -> Iterator[Path]:
    """Absolute paths in a finder's source, as written by setuptools, scikit-build-core and meson-python."""
    try:
        tree = ast.parse(read_or_empty(finder, most=_LONGEST))
    except UNPARSABLE:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and os.path.isabs(node.value):  # noqa: PTH117
            for path in (Path(node.value), Path(f"{node.value}.py")):
                if path.is_dir() or path.is_file():
                    yield path


def _is_project_path(path: Path, home_folder: Path) -> bool:
    """Is it neither `/` nor home nor hidden, with a Python project file in it or above it?"""
    if path == home_folder or path in home_folder.parents:
        return False
    below = path.relative_to(home_folder) if path.is_relative_to(home_folder) else path
    if any(part.startswith(".") for part in below.parts):
        return False
    above = [folder for folder in (path, *path.parents) if folder != home_folder and folder not in home_folder.parents]
    return any((folder / mark).is_file() for folder in above for mark in _PROJECT)
