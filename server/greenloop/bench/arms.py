"""What is compared: an arm is a preset with parts and settings of its own."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from greenloop import registry
from greenloop import settings as configuration
from greenloop.bench import reference
from greenloop.core.errors import SettingsProblem, UsageProblem
from greenloop.settings import Settings

# What an arm may have other than its preset.
PARTS = ("prompt", "context", "feedback", "search", "blind")


@dataclass(frozen=True, kw_only=True)
class Arm:
    """`preset` has the arm's own `parts` in it; `settings` by dotted key.

    `match` names another arm: this one gets as many model calls as that one made.
    """

    name: str
    preset: registry.Preset
    settings: Mapping[str, Any] = field(default_factory=dict)
    parts: Mapping[str, Any] = field(default_factory=dict)
    match: str = ""


def parse(text: str) -> Arm:
    """`PRESET` or `PRESET:key=value,key=value`: settings, parts (lists with `+`), `match=ARM`.

    Raises `SettingsProblem`.
    """
    preset, _, rest = text.partition(":")
    words = [word for word in re.split(r",(?=[\w.]+=)", rest) if word]
    values = configuration.parse_assignments(words)
    for part in ("context", "feedback"):
        if isinstance(values.get(part), str):
            values[part] = [each for each in values[part].split("+") if each]
    return made(text, preset.strip(), values)


def made(name: str, preset: str, values: Mapping[str, Any]) -> Arm:
    """Raises `SettingsProblem` for a preset, part or setting that there is not."""
    parts = {key: value for key, value in values.items() if key in PARTS}
    for part in ("context", "feedback", "search"):
        wanted = parts.get(part, [])
        for each in [wanted] if isinstance(wanted, str) else wanted:
            registry.load(part, each)
    frozen: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in parts.items()}
    if "prompt" in parts and parts["prompt"] not in {each.prompt for each in registry.presets().values()}:
        raise SettingsProblem(f"There is no prompt '{parts['prompt']}'.")
    settings = {key: value for key, value in values.items() if key not in {*PARTS, "match"}}
    configuration.load(None, command_line=settings, environ={})
    return Arm(
        name=name,
        preset=replace(registry.preset(preset, harness=True), **frozen),
        parts=parts,
        settings=settings,
        match=str(values.get("match", "")),
    )


def settings_for(table: Mapping[str, Any], folder: Path | None) -> Settings:
    """All sources merged, for tasks in a folder of the user's, or (None) in folders of the harness's own."""
    # Nobody else knows the model that answers with the solution.
    given = {key: value for key, value in table.items() if (key, value) != ("model", reference.NAME)}
    if folder is None:
        given = {"interpreter": sys.executable, **given}
    found, _warnings = configuration.load(folder, command_line=given)
    return found


def checked(arms: Sequence[Arm]) -> list[Arm]:
    """Those that match others last. Raises `UsageProblem` for two of one name, or a match with what is not there."""
    names = [arm.name for arm in arms]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageProblem(f"Two arms are named '{twice}'.", remedy="Leave one out, or give it other settings.")
    plain = {arm.name for arm in arms if not arm.match}
    for arm in arms:
        if arm.match and arm.match not in plain:
            raise UsageProblem(
                f"The arm '{arm.name}' matches '{arm.match}', which is no arm of this run with calls of its own.",
                remedy=f"Name one of: {', '.join(sorted(plain)) or 'an arm without match='}.",
            )
    return sorted(arms, key=lambda arm: bool(arm.match))
