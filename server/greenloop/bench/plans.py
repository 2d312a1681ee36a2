"""Reads experiment plans: a TOML file with arms, and settings for all of them.

    about = "What is asked"
    repeats = 3

    [settings]
    tokens = 20000

    [arms.once]
    preset = "plain"
    attempts = 1

An arm also has settings by dotted key, parts (`search`, `feedback`, `context`, `prompt`, `blind`) and
`match`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from greenloop.bench.arms import Arm, make_arm
from greenloop.core.errors import SettingsError, UsageError

KEYS = {"about", "repeats", "settings", "arms"}


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A plan. `settings` apply to all arms; each task is run `repeats` times."""

    arms: tuple[Arm, ...]
    about: str = ""
    repeats: int = 1
    settings: Mapping[str, Any] = field(default_factory=dict)


def read(path: Path) -> Plan:
    """Reads a plan. Raises `UsageError` naming the file and its fault."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.", remedy="Name a plan.") from error
    except ValueError as error:
        raise UsageError(f"{path} is not TOML: {error}.") from error
    try:
        return _plan(table)
    except SettingsError as error:
        raise UsageError(f"{path}: {error}", remedy=error.remedy) from error
    except ValueError as error:
        raise UsageError(f"{path}: {error}.", remedy="See docs/bench.md for what a plan holds.") from error


def _plan(table: Mapping[str, Any]) -> Plan:
    if unknown := set(table) - KEYS:
        raise ValueError(f"the key '{min(unknown)}' is not allowed in a plan ({', '.join(sorted(KEYS))})")
    arms = table.get("arms")
    if not isinstance(arms, dict) or not arms:
        raise ValueError("it names no arm")
    repeats = table.get("repeats", 1)
    if not isinstance(repeats, int) or repeats < 1:
        raise ValueError("'repeats' must be a whole number of at least 1")
    return Plan(
        arms=tuple(_arm(name, values) for name, values in arms.items()),
        about=str(table.get("about", "")),
        repeats=repeats,
        settings=dict(_flatten(table.get("settings", {}))),
    )


def _arm(name: str, values: Any) -> Arm:
    if not isinstance(values, dict) or not isinstance(values.get("preset"), str):
        raise ValueError(f"the arm '{name}' names no preset")  # noqa: TRY004 - one error for what is wrong in a plan
    flat = dict(_flatten({key: value for key, value in values.items() if key != "preset"}))
    return make_arm(name, values["preset"], flat)


def _flatten(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value
