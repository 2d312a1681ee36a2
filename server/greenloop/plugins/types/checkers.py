"""Finds the type checker that a project has configured, by reading its files. It must not start one."""

from __future__ import annotations

import configparser
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from greenloop.core.errors import CannotVerifyError, UsageError
from greenloop.project.environment.interpreters import has_package
from greenloop.project.sources import read_text
from greenloop_sandbox.records import Environment

MYPY, PYRIGHT, BASEDPYRIGHT, RUFF = "mypy", "pyright", "basedpyright", "ruff"
_CHOOSES = ("files", "packages", "modules")  # options of mypy that say what it checks


@dataclass(frozen=True, kw_only=True)
class Checker:
    """A type checker by the name of its module, the file that configures it, and whether that says what is checked."""

    name: str
    configuration: str
    has_paths: bool = False


def configured_checkers(root: Path) -> list[Checker]:
    """Every type checker that files in the root configure."""
    return list(_configured(root))


def configured_linters(root: Path, environment: Environment) -> list[Checker]:
    """ruff, where files in the root configure it and the environment has it."""
    names = [name for name in ("ruff.toml", ".ruff.toml") if (root / name).is_file()]
    names += ["pyproject.toml"] if RUFF in _toml(root, "pyproject.toml").get("tool", {}) else []
    is_there = has_package(environment.prefix, environment.version, RUFF)
    return [Checker(name=RUFF, configuration=name) for name in names[:1] if is_there]


def find_checker(root: Path, environment: Environment) -> Checker:
    """The first configured type checker that the environment has.

    Raises `UsageError` where none is configured, and `CannotVerifyError` where it is not installed.
    """
    configured = configured_checkers(root)
    for each in configured:
        if has_package(environment.prefix, environment.version, each.name):
            return each
    if not configured:
        raise UsageError(
            "This project configures no type checker.",
            remedy="Add `[tool.mypy]` or `[tool.pyright]` to pyproject.toml, or a mypy.ini or pyrightconfig.json.",
        )
    first = configured[0]
    raise CannotVerifyError(
        f"{first.configuration} configures {first.name}, which {environment.prefix} does not have.",
        remedy=f"Install it there: {environment.executable} -m pip install {first.name}",
    )


def _configured(root: Path) -> Iterator[Checker]:
    tool = _toml(root, "pyproject.toml").get("tool", {})
    for file in ("mypy.ini", ".mypy.ini", "setup.cfg"):
        section = _ini(root, file)
        if section is not None:
            yield Checker(name=MYPY, configuration=file, has_paths=any(name in section for name in _CHOOSES))
    if isinstance(table := tool.get(MYPY), Mapping):
        has_paths = any(name in table for name in _CHOOSES)
        yield Checker(name=MYPY, configuration="pyproject.toml", has_paths=has_paths)
    file = "pyrightconfig.json" if (root / "pyrightconfig.json").is_file() else ""
    for name in (PYRIGHT, BASEDPYRIGHT):
        if file or name in tool:
            yield Checker(name=name, configuration=file or "pyproject.toml", has_paths=True)


def _toml(root: Path, file: str) -> Mapping[str, Any]:
    try:
        return tomllib.loads(read_text(root, file) or "")
    except tomllib.TOMLDecodeError:
        return {}


def _ini(root: Path, file: str) -> Mapping[str, str] | None:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(read_text(root, file) or "")
    except configparser.Error:
        return None
    return parser["mypy"] if parser.has_section("mypy") else None
