"""Finds programs of this machine; none that lies in a workspace, since a repository must not say what runs."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path


def find_tool(name: str, root: Path) -> str | None:
    """The program next to greenloop's own Python, else one on the PATH and outside the workspace."""
    own_tool = shutil.which(name, path=str(Path(sys.executable).parent))
    tool = own_tool or shutil.which(name, path=safe_path(root, os.environ))
    return tool if own_tool or (tool and not Path(tool).resolve().is_relative_to(root.resolve())) else None


def safe_path(root: Path, environ: Mapping[str, str]) -> str:
    """PATH without relative folders and without folders inside the repository, whose binaries must not run."""
    resolved_root = root.resolve()
    folders = [Path(part) for part in environ.get("PATH", os.defpath).split(os.pathsep) if part]
    return os.pathsep.join(
        str(folder) for folder in folders if folder.is_absolute() and not folder.resolve().is_relative_to(resolved_root)
    )
