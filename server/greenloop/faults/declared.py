"""What a project says it needs, and whether a module is one to install rather than to write."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

from greenloop import sources
from greenloop.faults.known import DISTRIBUTIONS, KNOWN
from greenloop.faults.seen import normal


def is_third_party(top: str, root: Path) -> bool:
    """Is a module that the workspace does not have one to install (declared, widely known), rather than to write?"""
    names = {normal(top), normal(DISTRIBUTIONS.get(top, top))}
    return top in sys.stdlib_module_names or top in KNOWN or bool(names & declared(root))


def declared(root: Path) -> set[str]:
    """Normalised names of the distributions that the project says it needs, from all the usual files."""
    found: set[str] = set()
    for file in sorted(
        [*root.glob("requirements*.txt"), *root.glob("requirements/*.txt"), *root.glob("*constraints*.txt")]
    )[:20]:
        found |= _requirements((sources.text(root, file.relative_to(root).as_posix()) or "").splitlines())
    for name in ("pyproject.toml", "Pipfile"):
        try:
            found |= _table(tomllib.loads(sources.text(root, name) or ""))
        except tomllib.TOMLDecodeError:
            continue
    for name in ("setup.cfg", "setup.py", "tox.ini", "environment.yml", "environment.yaml"):
        quoted = re.findall(
            r"^[ \t\"'\[-]*([A-Za-z][\w.-]*)[ \t]*(?:[<>=!~;\[,\"'].*)?$", sources.text(root, name) or "", re.MULTILINE
        )
        found |= {normal(item) for item in quoted}
        found |= {
            normal(item) for item in re.findall(r"[\"']([A-Za-z][\w.-]*)[^\"'\n]*[\"']", sources.text(root, name) or "")
        }
    return found


def _requirements(rows: Iterable[object]) -> set[str]:
    matches = [re.match(r"\s*([A-Za-z0-9][\w.-]*)", row) for row in rows if isinstance(row, str)]
    return {normal(match[1]) for match in matches if match}


def _table(table: dict[str, object]) -> set[str]:
    def at(*keys: str) -> object:
        value: object = table
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        return value

    found: set[str] = set()
    plain = at("project", "dependencies")
    found |= _requirements(plain) if isinstance(plain, list) else set()
    for group in (at("project", "optional-dependencies"), at("dependency-groups")):
        for rows in group.values() if isinstance(group, dict) else ():
            found |= _requirements(rows) if isinstance(rows, list) else set()
    groups = at("tool", "poetry", "group")
    tables = [
        at("tool", "poetry", "dependencies"),
        at("tool", "poetry", "dev-dependencies"),
        at("packages"),
        at("dev-packages"),
    ]
    inner = groups.values() if isinstance(groups, dict) else ()
    tables += [item.get("dependencies") for item in inner if isinstance(item, dict)]
    for item in tables:
        found |= {normal(str(key)) for key in item} if isinstance(item, dict) else set()
    return found - {"python"}


def project(root: Path) -> str:
    """The normalised name that the project gives itself, or empty."""
    try:
        name = tomllib.loads(sources.text(root, "pyproject.toml") or "").get("project", {}).get("name", "")
    except (tomllib.TOMLDecodeError, AttributeError):
        return ""
    return normal(name) if isinstance(name, str) else ""
