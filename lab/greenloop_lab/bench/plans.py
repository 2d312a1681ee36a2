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

import hashlib
import re
import statistics
import sys
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from greenloop.core import registry
from greenloop.core.errors import SettingsError, UsageError
from greenloop.core.records.outcome import StopReason
from greenloop.core.text.json_codec import flatten
from greenloop.engine.presets import Preset, find_preset, load_presets
from greenloop.project import configuration
from greenloop.project.settings import Settings
from greenloop_lab.bench.recordings import ORACLE, REFERENCE
from greenloop_lab.bench.results import Key

# Fields of the preset that an arm may replace.
PARTS = ("prompt", "context", "feedback", "search", "blind")
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
        raise UsageError(f"{path}: {error}.", remedy="See lab/docs/bench.md for what a plan holds.") from error


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
        settings=dict(flatten(table.get("settings", {}))),
    )


def _arm(name: str, values: Any) -> Arm:
    if not isinstance(values, dict) or not isinstance(values.get("preset"), str):
        raise ValueError(f"the arm '{name}' names no preset")  # noqa: TRY004 - one error for what is wrong in a plan
    flat = dict(flatten({key: value for key, value in values.items() if key != "preset"}))
    return make_arm(name, values["preset"], flat)


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

    @property
    def recorded_parts(self) -> dict[str, Any]:
        """Parts of the arm for the records; of templates that replace those of the preset, a hash."""
        texts = self.preset.templates
        digests = {name: hashlib.sha256(text.encode()).hexdigest()[:12] for name, text in texts.items()}
        return {**self.parts, **({"templates": digests} if digests else {})}


def parse_arm(text: str) -> Arm:
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
    # Only the harness knows the models that answer with the solution.
    known = (("model", REFERENCE), ("model", ORACLE))
    values = {key: value for key, value in table.items() if (key, value) not in known}
    if folder is None:
        values = {"interpreter": sys.executable, **values}
    settings, _warnings = configuration.load(folder, command_line=values)
    return settings


def choose_arms(texts: Sequence[str], plan: Plan | None = None, *, default: str = "default") -> list[Arm]:
    """The arms to run: those of the plan that `texts` name (all where none is named), and what else `texts` say.

    Without a plan and a text it is the preset `default`. An arm takes precedence over a preset of its name.
    Raises `UsageError` for a text that is neither, and what `parse_arm` and `check_arms` raise.
    """
    by_name = {arm.name: arm for arm in plan.arms} if plan else {}
    for text in texts:
        if by_name and text not in by_name and text.partition(":")[0].strip() not in load_presets():
            raise UsageError(
                f"'{text}' is neither a preset nor an arm of the plan, which has: {', '.join(by_name)}.",
                remedy="Name one of these arms to run only that (repeatable).",
            )
    named = [by_name.get(text) or parse_arm(text) for text in texts]
    if not by_name.keys() & {*texts}:
        named = [*by_name.values(), *named]
    return check_arms(named or [parse_arm(default)])


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


def first_limit(calls: Collection[int]) -> int:
    """Attempts for every task-run at the start: the mean number of calls, rounded."""
    return max(1, round(statistics.fmean(calls))) if calls else 1


def next_limits(calls: Collection[int], runs: Mapping[Key, Mapping[str, Any]]) -> dict[Key, int]:
    """Attempts for the task-runs to continue; empty when both arms made the same number of calls or none can continue.

    An arm that stops at its first pass makes fewer calls than it may, so the task-runs that ran out of attempts share
    the rest evenly.
    """
    missing = sum(calls) - sum(run["calls"] for run in runs.values())
    growing = [key for key, run in runs.items() if run["reason"] == StopReason.ATTEMPTS.value]
    if missing <= 0 or not growing:
        return {}
    step, rest = divmod(missing, len(growing))
    extra = {key: step + (n < rest) for n, key in enumerate(growing)}
    return {key: runs[key]["settings"]["attempts"] + each for key, each in extra.items() if each}
