"""Finds parts by file name: `registry.load("feedback", "raw")` is the module greenloop/feedback/raw.py.

There is no list to edit: a new file in a part's folder is a new variant.
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil
import tomllib
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from types import ModuleType
from typing import Any

from greenloop.core.errors import SettingsProblem

# The one public function (or class factory) that a module of each folder must have.
CONTRACTS = {
    "specs": "collect",
    "context": "gather",
    "feedback": "describe",
    "search": "plan",
    "runners": "parse",
    "models": "create",
    "sandboxes": "create",
}


def names(part: str) -> list[str]:
    """All variants of a part, by file name; a leading underscore marks what variants share."""
    package = importlib.import_module(f"greenloop.{part}")
    return sorted(module.name for module in pkgutil.iter_modules(package.__path__) if not module.name.startswith("_"))


def load(part: str, name: str) -> ModuleType:
    """The module of a variant. Raises `SettingsProblem` with the nearest names when there is none."""
    if name not in names(part):
        near = difflib.get_close_matches(name, names(part), n=1) or names(part)
        raise SettingsProblem(f"There is no {part} part named '{name}'.", remedy=f"Choose one of: {', '.join(near)}.")
    return importlib.import_module(f"greenloop.{part}.{name}")


@dataclass(frozen=True, kw_only=True)
class Preset:
    """A named choice of parts; `about` says where it comes from."""

    name: str
    about: str
    prompt: str
    context: tuple[str, ...]
    feedback: tuple[str, ...]
    search: str


@cache
def presets() -> dict[str, Preset]:
    table = tomllib.loads(files("greenloop").joinpath("presets.toml").read_text(encoding="utf-8"))
    wanted = {item.name for item in fields(Preset)} - {"name"}
    result = {}
    for name, values in table.items():
        if set(values) != wanted:
            raise SettingsProblem(f"Preset '{name}' must have exactly the keys {', '.join(sorted(wanted))}.")
        clean: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in values.items()
        }
        result[name] = Preset(name=name, **clean)
    return result


def preset(name: str) -> Preset:
    """Raises `SettingsProblem` naming the presets there are."""
    if name not in presets():
        raise SettingsProblem(f"There is no preset named '{name}'.", remedy=f"Choose one of: {', '.join(presets())}.")
    return presets()[name]
