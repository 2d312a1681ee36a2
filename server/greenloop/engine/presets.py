"""Presets: named choices of parts, read from presets.toml.

An installed package adds its own by an entry point of the group `greenloop.presets`, which names a package with such a
file; greenloop's own cannot be replaced.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from greenloop.core import entry_points, registry
from greenloop.core.errors import SettingsError

# How the names of presets for code that passes its tests begin.
IMPROVE = "improve"


@dataclass(frozen=True, kw_only=True)
class Preset:
    """A named choice of parts; `description` says what it does.

    `treat` names other feedback for an error group; `attempts` is the number of candidates without a setting.
    `specs` write tests where there is only a docstring, and `trust` decides which of them count.
    `places` is how many suspects a whole answer is shown, and may change with other code of their files,
    where the prompt has room (`prompt.places`); 0: it changes the regions alone.
    `turns` is the number of answers of a capable model, with which it has a conversation (0: its own search for all).
    `corrects_drafts`: an answer holds a draft and its correction, so that it may begin with the user's code.
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
    corrects_drafts: bool = False
    blind: bool = False
    templates: Mapping[str, str] = field(default_factory=dict)

    @property
    def tries_changes(self) -> bool:
        """Does its search begin with one-token changes?"""
        return bool(getattr(registry.load_part("search", self.search), "TRIES_CHANGES", False))


def load_presets() -> dict[str, Preset]:
    """Reads all presets by name, also those of installed packages. Raises `SettingsError` for wrong keys."""
    own = load_own_presets()
    return own | {name: preset for name, preset in _installed_presets().items() if name not in own}


@cache
def load_own_presets() -> dict[str, Preset]:
    """Reads greenloop's own presets by name. Raises `SettingsError` for wrong keys."""
    return _read(files("greenloop").joinpath("engine", "presets.toml"))


@cache
def _installed_presets() -> dict[str, Preset]:
    packages = [entry_points.load(entry) for entry in entry_points.find_entry_points(entry_points.PRESETS)]
    return {
        name: preset for package in packages for name, preset in _read(files(package).joinpath("presets.toml")).items()
    }


def _read(file: Traversable) -> dict[str, Preset]:
    table = tomllib.loads(file.read_text(encoding="utf-8"))
    keys = {item.name for item in fields(Preset)} - {"name", "templates"}
    required = keys - {"treat", "attempts", "specs", "trust", "places", "turns", "corrects_drafts", "blind"}
    result = {}
    for name, values in table.items():
        if not required <= set(values) <= keys:
            raise SettingsError(f"Preset '{name}' must have the keys {', '.join(sorted(required))}.")
        result[name] = Preset(name=name, **{key: _frozen(value) for key, value in values.items()})
    return result


def offered_presets() -> dict[str, Preset]:
    """Returns the presets that can be chosen for a failing target, by name."""
    return {
        name: preset for name, preset in load_presets().items() if not preset.blind and not name.startswith(IMPROVE)
    }


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _frozen(item) for key, item in value.items()}
    return tuple(value) if isinstance(value, list) else value


def find_preset(name: str, *, harness: bool = False) -> Preset:
    """Returns the preset of a name. `harness` includes those for the harness only. Raises `SettingsError`.

    Installed packages are asked only for a name that greenloop itself does not have.
    """
    presets = load_own_presets()
    if name not in presets:
        presets = load_presets()
    if name in presets and (harness or not presets[name].blind):
        return presets[name]
    problem = f"There is no preset named '{name}'."
    if name in presets:
        problem = f"The preset '{name}' runs no tests; it is only for `greenloop bench`."
    names = ", ".join(key for key, preset in presets.items() if harness or not preset.blind)
    more = (
        ""
        if _installed_presets()
        else f" Those of published systems come with greenloop's laboratory. {entry_points.INSTALL_LABORATORY}"
    )
    raise SettingsError(problem, remedy=f"Choose one of: {names}.{more}")
