"""Decides which files of a workspace a candidate may change, and says why not.

It must not know how a candidate is made.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from greenloop.project.hidden import FOLDER_OF_TESTS, is_masked
from greenloop.project.sources import is_project_path, is_shared_setup, is_test_file

_METADATA = (".dist-info", ".egg-info")  # folders that an installer writes
# Files that configure tools; those of the tests are `is_shared_setup`.
_CONFIGURES = {
    "mypy.ini", ".mypy.ini", "pyrightconfig.json", "ruff.toml", ".ruff.toml", "uv.toml", "poetry.toml", "pdm.toml",
    "hatch.toml", "pixi.toml",
}  # fmt: skip
_OF_PYTEST = re.compile(r"^\[(?:tool[:.])?pytest\b", re.MULTILINE)  # `-c` may name any file


def why_not_editable(path: str, root: Path, *, patterns: Sequence[str] | None, masked: Sequence[str]) -> str:
    """Returns why a candidate may not change this file, to follow its name ("is a test"); "" where it may.

    `path` is relative to the root; `patterns` is pytest's `python_files`, `masked` are those of hidden files.
    """
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or not pure.parts:
        return "is outside the workspace"
    try:
        if not (root / path).resolve().is_relative_to(root.resolve()):
            return "leads outside the workspace"
        if (root / path).is_dir() or any((root / folder).is_file() for folder in pure.parents):
            return "cannot be a file here"
    except (OSError, ValueError):
        return "cannot be a file here"
    if is_masked(path, masked) or is_masked(path, (".*",)):
        return "is hidden"
    if not is_project_path(root, path) or any(part.endswith(_METADATA) for part in pure.parts):
        return "belongs to an environment or a build"
    if is_test_file(path, patterns) or any(map(FOLDER_OF_TESTS.fullmatch, pure.parts[:-1])):
        return "belongs to the tests, which stay as they are"
    if pure.suffix == ".ipynb":
        return "is a notebook, of which only the cells of a target may change"
    if is_shared_setup(path) or pure.suffix == ".pth" or pure.name in _CONFIGURES or _configures_pytest(root / path):
        return "is configuration, which stays as it is"
    return ""


def _configures_pytest(file: Path) -> bool:
    if file.suffix not in {".cfg", ".ini", ".toml"} or not file.is_file():
        return False
    return _OF_PYTEST.search(file.read_text("utf-8", errors="replace")) is not None
