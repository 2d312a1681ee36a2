"""Presets: named choices of parts, read from presets.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from importlib.resources import files
from typing import Any

from greenloop.core.errors import SettingsError

# The presets for code that passes its tests; the second where a planner is to name algorithms first.
IMPROVE, PLANNED = "improve", "improve-planned"


@dataclass(frozen=True, kw_only=True)
class Preset:
    """A named choice of parts; `description` says what it does.

    `treat` names other feedback for an error group; `attempts` is the number of candidates without a setting.
    `specs` write tests where there is only a docstring, and `trust` decides which of them count.
    `places` is how many suspects a whole answer is shown, and may change with whatever is beside them in their files,
    where the prompt has room (`prompt.places`); 0: it changes the regions alone.
    `turns` is the number of answers of a capable model, with which it has a conversation (0: its own search for all).
    `blind`: its loop never sees test results, and its last candidate counts; for the harness only.
    `templates` replace those of its prompt by their names; also for the harness only.
    """

    name: str
    description: str
    prompt: str
    context: tuple[str, ...]
    feedback: tuple[str, ...]
    search: str
    treat: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    attempts: int = 5
    specs: tuple[str, ...] = ()
    trust: str = "consensus"
    places: int = 0
    turns: int = 0
    blind: bool = False
    templates: Mapping[str, str] = field(default_factory=dict)

    @property
    def tries_changes(self) -> bool:
        """Does its search begin with one-token changes?"""
        return self.search in ("ladder", "ladder_unmerged")

    @property
    def corrects_drafts(self) -> bool:
        """Does an answer hold a draft and its correction, so that it may begin with the user's code?"""
        return self.prompt == "one_call"


@cache
def load_presets() -> dict[str, Preset]:
    """Reads all presets of presets.toml by name. Raises `SettingsError` for wrong keys."""
    table = tomllib.loads(files("greenloop").joinpath("engine", "presets.toml").read_text(encoding="utf-8"))
    keys = {item.name for item in fields(Preset)} - {"name", "templates"}
    required = keys - {"treat", "attempts", "specs", "trust", "places", "turns", "blind"}
    result = {}
    for name, values in table.items():
        if not required <= set(values) <= keys:
            raise SettingsError(f"Preset '{name}' must have the keys {', '.join(sorted(required))}.")
        result[name] = Preset(name=name, **{key: _frozen(value) for key, value in values.items()})
    return result


def offered_presets() -> dict[str, Preset]:
    """Returns the presets that can be chosen for a failing target, by name."""
    return {
        name: preset for name, preset in load_presets().items() if not preset.blind and name not in (IMPROVE, PLANNED)
    }


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _frozen(item) for key, item in value.items()}
    return tuple(value) if isinstance(value, list) else value


def find_preset(name: str, *, harness: bool = False) -> Preset:
    """Returns the preset of a name. `harness` includes those for the harness only. Raises `SettingsError`."""
    presets = {key: preset for key, preset in load_presets().items() if harness or not preset.blind}
    if name in presets:
        return presets[name]
    problem = f"There is no preset named '{name}'."
    if name in load_presets():
        problem = f"The preset '{name}' runs no tests; it is only for `greenloop bench`."
    raise SettingsError(problem, remedy=f"Choose one of: {', '.join(presets)}.")
