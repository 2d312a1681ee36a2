"""Finds parts by file name: `registry.load("feedback", "raw")` is raw.py in the package of feedback.

There is no list to edit: each new file in a part's folder is a new variant.
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from importlib.resources import files
from types import ModuleType
from typing import Any

from greenloop.core.errors import SettingsProblem

# The package with the variants of each part.
PACKAGES = {
    "specs": "greenloop.specs.kinds",
    "context": "greenloop.drafting.context",
    "feedback": "greenloop.drafting.feedback",
    "search": "greenloop.drafting.search",
    "trust": "greenloop.specs.trust",
    "models": "greenloop.models.providers",
    "sandboxes": "greenloop.sandboxes.backends",
}

# The one public function (or class factory) that a module of each folder must have.
CONTRACTS = {
    "specs": "collect",
    "context": "gather",
    "feedback": "describe",
    "search": "plan",
    "trust": "rule",
    "models": "create",
    "sandboxes": "create",
}


def names(part: str) -> list[str]:
    """All variants of a part, by file name; modules with a leading underscore are shared by variants."""
    package = importlib.import_module(PACKAGES[part])
    return sorted(module.name for module in pkgutil.iter_modules(package.__path__) if not module.name.startswith("_"))


def load(part: str, name: str) -> ModuleType:
    """The module of a variant. Raises `SettingsProblem` with the nearest names where there is none."""
    if name not in names(part):
        near = difflib.get_close_matches(name, names(part), n=1) or names(part)
        raise SettingsProblem(f"There is no {part} part named '{name}'.", remedy=f"Choose one of: {', '.join(near)}.")
    return importlib.import_module(f"{PACKAGES[part]}.{name}")


@dataclass(frozen=True, kw_only=True)
class Preset:
    """A named choice of parts; `about` is its origin.

    `treat` names other feedback for an error group; `attempts` is the number of candidates without a setting.
    `specs` write tests where there is only a docstring, and `trust` decides which of them count.
    `blind`: its loop never sees test results, and its last candidate counts; for the harness only.
    """

    name: str
    about: str
    prompt: str
    context: tuple[str, ...]
    feedback: tuple[str, ...]
    search: str
    treat: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    attempts: int = 5
    specs: tuple[str, ...] = ()
    trust: str = "consensus"
    blind: bool = False


@cache
def presets() -> dict[str, Preset]:
    """All presets of presets.toml by name. Raises `SettingsProblem` for wrong keys."""
    table = tomllib.loads(files("greenloop").joinpath("engine", "presets.toml").read_text(encoding="utf-8"))
    known = {item.name for item in fields(Preset)} - {"name"}
    required = known - {"treat", "attempts", "specs", "trust", "blind"}
    result = {}
    for name, values in table.items():
        if not required <= set(values) <= known:
            raise SettingsProblem(f"Preset '{name}' must have the keys {', '.join(sorted(required))}.")
        result[name] = Preset(name=name, **{key: _frozen(value) for key, value in values.items()})
    return result


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _frozen(item) for key, item in value.items()}
    return tuple(value) if isinstance(value, list) else value


def preset(name: str, *, harness: bool = False) -> Preset:
    """The preset of a name. Raises `SettingsProblem` with the known names. `harness`: includes those for it only."""
    known = {key: each for key, each in presets().items() if harness or not each.blind}
    if name in known:
        return known[name]
    problem = f"There is no preset named '{name}'."
    if name in presets():
        problem = f"The preset '{name}' goes without any execution; it is for `greenloop bench` only."
    raise SettingsProblem(problem, remedy=f"Choose one of: {', '.join(known)}.")
