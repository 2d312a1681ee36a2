"""Finds parts by file name: `registry.load("feedback", "raw")` is the module greenloop/feedback/raw.py.

There is no list to edit: a new file in a part's folder is a new variant.
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

# The one public function (or class factory) that a module of each folder must have.
CONTRACTS = {
    "specs": "collect",
    "context": "gather",
    "feedback": "describe",
    "search": "plan",
    "trust": "rule",
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
    """A named choice of parts; `about` says where it comes from.

    `treat` names other feedback for an error group; `attempts` is how many candidates it tries where no setting says.
    `specs` write tests where a docstring is all there is, and `trust` says which of them to believe.
    `blind`: its loop never learns what the tests say, and its last candidate counts; for the harness only.
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
    table = tomllib.loads(files("greenloop").joinpath("presets.toml").read_text(encoding="utf-8"))
    known = {item.name for item in fields(Preset)} - {"name"}
    wanted = known - {"treat", "attempts", "specs", "trust", "blind"}
    result = {}
    for name, values in table.items():
        if not wanted <= set(values) <= known:
            raise SettingsProblem(f"Preset '{name}' must have the keys {', '.join(sorted(wanted))}.")
        result[name] = Preset(name=name, **{key: _frozen(value) for key, value in values.items()})
    return result


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _frozen(item) for key, item in value.items()}
    return tuple(value) if isinstance(value, list) else value


def preset(name: str, *, harness: bool = False) -> Preset:
    """Raises `SettingsProblem` naming the presets there are. `harness`: those count that are for it only."""
    known = {key: each for key, each in presets().items() if harness or not each.blind}
    if name in known:
        return known[name]
    problem = f"There is no preset named '{name}'."
    if name in presets():
        problem = f"The preset '{name}' goes without any execution; it is for `greenloop bench` only."
    raise SettingsProblem(problem, remedy=f"Choose one of: {', '.join(known)}.")
