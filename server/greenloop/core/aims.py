"""Aims for code that passes its tests. It must not know any of them.

An entry point of the group `greenloop.aims` names a module with `AIMS`, aims by the words that choose them, and
`choose(code, options)`: those that make sense for a function, the likeliest first; `options` are the settings by key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from greenloop.core import entry_points
from greenloop.core.errors import SettingsError

COMMENT = "comment"  # the aim to do what a reviewer's comment asks


@dataclass(frozen=True, kw_only=True)
class Aim:
    """A change to make in code that passes: the requirement that judges it, its options, and words: `faster`."""

    requirement: str
    words: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)


def list_aims() -> dict[str, Aim]:
    """All aims of the installed plugins, by name."""
    return {name: aim for module in entry_points.load_all(entry_points.AIMS) for name, aim in module.AIMS.items()}


def find_aim(name: str | None) -> Aim | None:
    """The aim of this name; None without one. Raises `SettingsError` where it is not installed."""
    if not name:
        return None
    if (aim := list_aims().get(name)) is None:
        raise SettingsError(f"The aim `{name}` is not installed.", remedy="Install greenloop again, with its plugins.")
    return aim


def choose_aims(code: str, options: Mapping[str, Any]) -> dict[str, Aim]:
    """The aims that make sense for a function, by name, the likeliest first."""
    modules = entry_points.load_all(entry_points.AIMS)
    return {name: module.AIMS[name] for module in modules for name in module.choose(code, options)}
