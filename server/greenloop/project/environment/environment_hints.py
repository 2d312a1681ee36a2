"""Lists the folders in which tools keep a project's environment: venv, PDM, Poetry, Pipenv, conda. Reads files only."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

_WINDOWS = os.name == "nt"


def environment_hints(root: Path, environ: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    """Yields folders that may hold the project's environment, each with the name of its source, in order."""
    yield root / ".venv", ".venv"
    yield root / "venv", "venv"
    if active_environment := environ.get("VIRTUAL_ENV"):
        yield Path(active_environment), "VIRTUAL_ENV"
    if (pdm_python := _first_line(root / ".pdm-python")) and Path(pdm_python).is_absolute():
        yield Path(pdm_python).parent.parent, "PDM"
    yield from ((folder, "Poetry") for folder in _poetry(root, environ))
    yield from ((folder, "Pipenv") for folder in _pipenv(root, environ))
    # conda's base environment is not the project's; it is found on PATH like any other Python.
    if (prefix := environ.get("CONDA_PREFIX")) and environ.get("CONDA_DEFAULT_ENV") != "base":
        yield Path(prefix), "conda"


def _poetry(root: Path, environ: Mapping[str, str]) -> list[Path]:
    try:
        table = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
        name = table.get("tool", {}).get("poetry", {}).get("name") or table.get("project", {}).get("name") or ""
    except (OSError, ValueError, AttributeError):
        return []
    if not isinstance(name, str) or not ("poetry" in table.get("tool", {}) or (root / "poetry.lock").exists()):
        return []
    # Poetry's naming scheme: NAME-HASH-pyX.Y, with the hash of the project folder's path.
    clean_name = re.sub(r'[ $`!*@"\\\r\n\t]', "_", name.lower())[:42]
    digest = hashlib.sha256(os.path.normcase(os.path.realpath(root)).encode()).digest()
    digest_prefix = base64.urlsafe_b64encode(digest).decode()[:8]
    return sorted(
        _cache(environ, "pypoetry").joinpath("virtualenvs").glob(f"{clean_name}-{digest_prefix}-py*"), reverse=True
    )


def _cache(environ: Mapping[str, str], tool: str) -> Path:
    home_folder = Path(environ.get("HOME") or Path.home())
    if sys.platform == "darwin":
        return home_folder / "Library" / "Caches" / tool
    if _WINDOWS:
        return Path(environ.get("LOCALAPPDATA") or home_folder / "AppData" / "Local") / tool / "Cache"
    return Path(environ.get("XDG_CACHE_HOME") or home_folder / ".cache") / tool


def _pipenv(root: Path, environ: Mapping[str, str]) -> list[Path]:
    if not (root / "Pipfile").exists():
        return []
    home_folder = Path(environ.get("HOME") or Path.home())
    environments = Path(
        environ.get("WORKON_HOME") or home_folder / (".virtualenvs" if _WINDOWS else ".local/share/virtualenvs")
    )
    project_files = sorted(environments.glob("*/.project"))
    return [
        project_file.parent
        for project_file in project_files
        if _first_line(project_file) in {str(root), str(root.resolve())}
    ]


def _first_line(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8").partition("\n")[0].strip()
    except (OSError, UnicodeDecodeError):
        return ""
