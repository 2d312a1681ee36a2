"""What is compared: an arm is a preset with settings of its own."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from greenloop import registry
from greenloop import settings as configuration
from greenloop.bench import reference
from greenloop.core.errors import UsageProblem
from greenloop.settings import Settings


@dataclass(frozen=True, kw_only=True)
class Arm:
    """`settings` by dotted key. `match` names another arm: this one gets as many model calls as that one made."""

    name: str
    preset: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    match: str = ""


def parse(text: str) -> Arm:
    """`PRESET` or `PRESET:key=value,key=value`; `match=ARM` among them. Raises `SettingsProblem`."""
    preset, _, rest = text.partition(":")
    words = [word for word in re.split(r",(?=[\w.]+=)", rest) if word]
    return made(text, preset.strip(), configuration.parse_assignments(words))


def made(name: str, preset: str, values: Mapping[str, Any]) -> Arm:
    """Raises `SettingsProblem` for a preset or setting that there is not."""
    registry.preset(preset, harness=True)
    settings = {key: value for key, value in values.items() if key != "match"}
    configuration.load(None, command_line=settings, environ={})
    return Arm(name=name, preset=preset, settings=settings, match=str(values.get("match", "")))


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
