"""Finds the workspace, and the target in it, from paths typed relative to the current folder."""

from __future__ import annotations

import os
import re
from pathlib import Path

from greenloop.core.errors import UsageError
from greenloop.project.workspace import find_root


def locate(root: str | None, target: str | None, *, cwd: Path) -> tuple[Path, str | None]:
    """The workspace, and the target with its path relative to it.

    Without `root` it is the nearest folder above with a project file or a repository, else `cwd`.
    Raises `UsageError` for a root that is not a folder, a file outside it, and when it would be `/` or the home
    folder.
    """
    path = _file_of(target, cwd)
    if root is not None:
        folder = Path(os.path.abspath(cwd / root))  # noqa: PTH100 - keeps symlinks, as the user typed them
        if not folder.is_dir():
            raise UsageError(f"{folder} is not a folder.", remedy="Name the workspace's folder with --root.")
    else:
        inside = path is None or path.is_relative_to(cwd)
        folder = find_root(cwd if inside or path is None else path.parent)
    return folder, _relative(target, path, folder)


def split_target(target: str) -> tuple[str, str]:
    """Splits a typed target into its file and the rest (`::name`, `:LINE`, or `:CELL` of a notebook)."""
    file, colons, name = target.partition("::")
    if colons:
        return file, "::" + name
    if cell := re.fullmatch(r"(.+\.ipynb):(.+)", target):
        return cell[1], ":" + cell[2]
    line = re.fullmatch(r"(.+\.pyi?):(\d+)(?::\d+)?", target)
    return (line[1], ":" + line[2]) if line else (target, "")


def _file_of(target: str | None, cwd: Path) -> Path | None:
    if not target:
        return None
    path = Path(os.path.abspath(cwd / split_target(target)[0]))  # noqa: PTH100
    return path if path.exists() else None


def _relative(target: str | None, path: Path | None, root: Path) -> str | None:
    if target is None or path is None:
        # Not a file relative to `cwd`: it may be one relative to the root; if not, the engine suggests the closest.
        return target
    for file, folder in ((path, root), (path.resolve(), root.resolve())):
        if file.is_relative_to(folder):
            return file.relative_to(folder).as_posix() + split_target(target)[1]
    raise UsageError(f"{path} is outside the workspace {root}.", remedy="Name the workspace's folder with --root.")
