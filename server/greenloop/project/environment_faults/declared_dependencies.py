"""Reads declared dependencies to decide if a missing module is to be installed or written."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

from greenloop.project import sources
from greenloop.project.environment_faults.observation import normalize_name
from greenloop.project.environment_faults.tables import DISTRIBUTIONS, KNOWN


def is_third_party(top_level: str, root: Path) -> bool:
    """Should a module that the workspace lacks be installed (it is declared or widely known) rather than written?"""
    spellings = {normalize_name(top_level), normalize_name(DISTRIBUTIONS.get(top_level, top_level))}
    return top_level in sys.stdlib_module_names or top_level in KNOWN or bool(spellings & declared_distributions(root))


def declared_distributions(root: Path) -> set[str]:
    """Normalised names of the distributions that the project declares in any of the usual files."""
    distributions: set[str] = set()
    for file in sorted(
        [*root.glob("requirements*.txt"), *root.glob("requirements/*.txt"), *root.glob("*constraints*.txt")]
    )[:20]:
        distributions |= _requirements((sources.read_text(root, file.relative_to(root).as_posix()) or "").splitlines())
    for name in ("pyproject.toml", "Pipfile"):
        try:
            distributions |= _table(tomllib.loads(sources.read_text(root, name) or ""))
        except tomllib.TOMLDecodeError:
            continue
    for name in ("setup.cfg", "setup.py", "tox.ini", "environment.yml", "environment.yaml"):
        quoted = re.findall(
            r"^[ \t\"'\[-]*([A-Za-z][\w.-]*)[ \t]*(?:[<>=!~;\[,\"'].*)?$",
            sources.read_text(root, name) or "",
            re.MULTILINE,
        )
        distributions |= {normalize_name(word) for word in quoted}
        distributions |= {
            normalize_name(word)
            for word in re.findall(r"[\"']([A-Za-z][\w.-]*)[^\"'\n]*[\"']", sources.read_text(root, name) or "")
        }
    return distributions


def _requirements(rows: Iterable[object]) -> set[str]:
    matches = [re.match(r"\s*([A-Za-z0-9][\w.-]*)", row) for row in rows if isinstance(row, str)]
    return {normalize_name(match[1]) for match in matches if match}


def _table(table: dict[str, object]) -> set[str]:
    def lookup(*keys: str) -> object:
        value: object = table
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        return value

    distributions: set[str] = set()
    main = lookup("project", "dependencies")
    distributions |= _requirements(main) if isinstance(main, list) else set()
    for group in (lookup("project", "optional-dependencies"), lookup("dependency-groups")):
        for rows in group.values() if isinstance(group, dict) else ():
            distributions |= _requirements(rows) if isinstance(rows, list) else set()
    groups = lookup("tool", "poetry", "group")
    tables = [
        lookup("tool", "poetry", "dependencies"),
        lookup("tool", "poetry", "dev-dependencies"),
        lookup("packages"),
        lookup("dev-packages"),
    ]
    inner = groups.values() if isinstance(groups, dict) else ()
    tables += [entry.get("dependencies") for entry in inner if isinstance(entry, dict)]
    for entry in tables:
        distributions |= {normalize_name(str(key)) for key in entry} if isinstance(entry, dict) else set()
    return distributions - {"python"}


def project_name(root: Path) -> str:
    """The project's own normalised name, or empty."""
    try:
        project_name = tomllib.loads(sources.read_text(root, "pyproject.toml") or "").get("project", {}).get("name", "")
    except (tomllib.TOMLDecodeError, AttributeError):
        return ""
    return normalize_name(project_name) if isinstance(project_name, str) else ""
