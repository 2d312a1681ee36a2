"""Arms of an experiment: a preset with its own parts and settings."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from greenloop.bench import reference
from greenloop.core import registry
from greenloop.core.errors import SettingsError, UsageError
from greenloop.engine.presets import Preset, find_preset, load_presets
from greenloop.project import configuration
from greenloop.project.settings import Settings

# Fields of the preset that an arm may replace.
PARTS = ("prompt", "context", "feedback", "search", "blind")


@dataclass(frozen=True, kw_only=True)
class Arm:
    """One arm. `preset` already includes the arm's own `parts`; `settings` are by dotted key.

    `match` names another arm: this one gets as many model calls as that one made.
    """

    name: str
    preset: Preset
    settings: Mapping[str, Any] = field(default_factory=dict)
    parts: Mapping[str, Any] = field(default_factory=dict)
    match: str = ""


def parse(text: str) -> Arm:
    """Parses `PRESET` or `PRESET:key=value,key=value`: settings, parts (lists joined by `+`), `match=ARM`.

    Raises `SettingsError`.
    """
    preset, _, rest = text.partition(":")
    words = [word for word in re.split(r",(?=[\w.]+=)", rest) if word]
    values = configuration.parse_assignments(words)
    for part in ("context", "feedback"):
        if isinstance(values.get(part), str):
            values[part] = [each for each in values[part].split("+") if each]
    return make_arm(text, preset.strip(), values)


def make_arm(name: str, preset: str, values: Mapping[str, Any]) -> Arm:
    """An arm from its values. Raises `SettingsError` for an unknown preset, part or setting."""
    parts = {key: value for key, value in values.items() if key in PARTS}
    for part in ("context", "feedback", "search"):
        named = parts.get(part, [])
        for each in [named] if isinstance(named, str) else named:
            registry.load_part(part, each)
    frozen: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in parts.items()}
    if "prompt" in parts and parts["prompt"] not in {each.prompt for each in load_presets().values()}:
        raise SettingsError(f"Unknown prompt '{parts['prompt']}'.")
    settings = {key: value for key, value in values.items() if key not in {*PARTS, "match"}}
    configuration.load(None, command_line=settings, environ={})
    return Arm(
        name=name,
        preset=replace(find_preset(preset, harness=True), **frozen),
        parts=parts,
        settings=settings,
        match=str(values.get("match", "")),
    )


def settings_for(table: Mapping[str, Any], folder: Path | None) -> Settings:
    """All sources of settings merged, for tasks in a user's folder, or (None) in folders that the harness makes."""
    # Only the harness knows the model that answers with the solution.
    values = {key: value for key, value in table.items() if (key, value) != ("model", reference.NAME)}
    if folder is None:
        values = {"interpreter": sys.executable, **values}
    settings, _warnings = configuration.load(folder, command_line=values)
    return settings


def check_arms(arms: Sequence[Arm]) -> list[Arm]:
    """The arms, those that match others last. Raises `UsageError` for duplicate names or an unknown match."""
    names = [arm.name for arm in arms]
    if duplicate := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(
            f"Two arms are named '{duplicate}'.", remedy="Remove one of them, or give it different settings."
        )
    unmatched = {arm.name for arm in arms if not arm.match}
    for arm in arms:
        if arm.match and arm.match not in unmatched:
            raise UsageError(
                f"The arm '{arm.name}' matches '{arm.match}', which does not make its own calls in this run.",
                remedy=f"Name one of: {', '.join(sorted(unmatched)) or 'an arm without match='}.",
            )
    return sorted(arms, key=lambda arm: bool(arm.match))
