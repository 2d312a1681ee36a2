"""Lists the folders in which tools keep a project's environment: venv, uv, Poetry, tox and others. Reads files only."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from greenloop.core.text.encoding import read_or_empty

_WINDOWS = os.name == "nt"
HERE = PurePosixPath()  # the root itself
WHOLE = (".git", "uv.lock")  # are in the folder of all members


def environment_hints(
    root: Path, environ: Mapping[str, str], member: PurePosixPath = HERE
) -> Iterator[tuple[Path, str]]:
    """Yields folders that may hold the project's environment, each with the name of its source, in order.

    Those of the `member` of a workspace whose tests run, a path below the root, come first.
    """
    for place in (member, *member.parents):
        if place != HERE:
            yield from ((each, f"{name} of {place}") for each, name in _virtual(root / place))
    yield from _virtual(root)
    if named := environ.get("UV_PROJECT_ENVIRONMENT"):
        yield root / named, "uv"
    if active_environment := environ.get("VIRTUAL_ENV"):
        yield Path(active_environment), "VIRTUAL_ENV"
    for folder in folders_around(root):  # of a uv workspace and its like, for all members
        yield from ((each, f"{name} of {folder.name}") for each, name in _virtual(folder))
    if (pdm_python := _first_line(root / ".pdm-python")) and Path(pdm_python).is_absolute():
        yield Path(pdm_python).parent.parent, "PDM"
    yield from ((folder, "Poetry") for folder in _poetry(root, environ))
    yield from ((folder, "Pipenv") for folder in _pipenv(root, environ))
    yield from ((folder, "pixi") for folder in _newest_first(root / ".pixi" / "envs", "default", "test"))
    yield from ((folder, "direnv") for folder in _newest_first(root / ".direnv", "python-*"))
    # conda's base environment is not the project's; it is found on PATH like any other Python.
    if (prefix := environ.get("CONDA_PREFIX")) and environ.get("CONDA_DEFAULT_ENV") != "base":
        yield Path(prefix), "conda"


def environments_of_runners(root: Path, environ: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    """Yields environments that Hatch, tox and nox made for runs of tests, as `environment_hints`."""
    yield from ((folder, "Hatch") for folder in _hatch(root, environ))
    for tool in ("tox", "nox"):
        yield from ((folder, tool) for folder in _newest_first(root / f".{tool}", "py*", "test*"))


def _virtual(folder: Path) -> Iterator[tuple[Path, str]]:
    yield folder / ".venv", ".venv"
    yield folder / "venv", "venv"


def folders_around(root: Path) -> Iterator[Path]:
    """The folders around this one, up to that of the repository or of uv's lock file; none outside of these."""
    folders = [root, *root.parents]
    end = next((place for place, folder in enumerate(folders) if any((folder / mark).exists() for mark in WHOLE)), 0)
    yield from folders[1 : end + 1]


def _newest_first(folder: Path, *patterns: str) -> Iterator[Path]:
    """Environments for tests: of these names, the newest Python's first; tools for style and docs have others."""
    for pattern in patterns:
        found = [each for each in folder.glob(pattern) if each.is_dir()]
        yield from sorted(found, key=lambda each: [int(part) for part in re.findall(r"\d+", each.name)], reverse=True)


def _project_table(root: Path) -> tuple[dict[str, Any], str]:
    """(the table of pyproject.toml, the project's name); empty where it cannot be read."""
    try:
        table = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
        name = table.get("tool", {}).get("poetry", {}).get("name") or table.get("project", {}).get("name")
    except (OSError, ValueError, AttributeError):
        return {}, ""
    return table, name if isinstance(name, str) else ""


def requires_python(root: Path) -> SpecifierSet | None:
    """The versions of Python that the project asks for; None where it names none that can be read."""
    named = _project_table(root)[0].get("project", {}).get("requires-python")
    try:
        return SpecifierSet(named) if isinstance(named, str) else None
    except InvalidSpecifier:
        return None


def _poetry(root: Path, environ: Mapping[str, str]) -> list[Path]:
    table, name = _project_table(root)
    if not ("poetry" in table.get("tool", {}) or (root / "poetry.lock").exists()):
        return []
    # Poetry's naming scheme: NAME-HASH-pyX.Y, with the hash of the project folder's path.
    clean_name = re.sub(r'[ $`!*@"\\\r\n\t]', "_", name.lower())[:42]
    found = _cache(environ, "pypoetry").joinpath("virtualenvs").glob(f"{clean_name}-{_path_hash(root)}-py*")
    return sorted(found, reverse=True)


def _hatch(root: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    """Hatch's naming scheme: NAME/HASH/ENVIRONMENT, where the default environment has the project's name."""
    name = canonicalize_name(_project_table(root)[1])
    if name and not _WINDOWS and sys.platform != "darwin":
        data = Path(environ.get("XDG_DATA_HOME") or Path(environ.get("HOME") or Path.home(), ".local/share"))
        yield from _newest_first(data / "hatch/env/virtual" / name / _path_hash(root), "hatch-test*", "test*", name)


def _path_hash(root: Path) -> str:
    digest = hashlib.sha256(os.path.normcase(os.path.realpath(root)).encode()).digest()
    return base64.urlsafe_b64encode(digest).decode()[:8]


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
    return read_or_empty(file).partition("\n")[0].strip()
