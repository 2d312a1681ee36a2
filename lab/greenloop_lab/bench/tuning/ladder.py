"""Tunes the numbers of the ladder: how many holes, in which order of rungs, at which temperatures.

A sampler proposes them, tasks score each choice, other tasks confirm the best. It must not know how the sampler learns.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from greenloop.core.errors import UsageError
from greenloop.engine.presets import Preset, find_preset
from greenloop.project.settings import RUNGS, LadderSettings
from greenloop_lab.bench.plans import Arm
from greenloop_lab.bench.reporting.figures import Pair
from greenloop_lab.bench.tuning.trials import Trials, is_better

PREFIX = "ladder"
# What is searched: whole numbers from, to, in steps of; and named choices.
NUMBERS: Mapping[str, tuple[int, int, int]] = {
    "first": (1, 8, 1),
    "brief": (1, 4, 1),
    "holes": (4, 24, 4),
    "pairs": (0, 16, 4),
    "inserts": (0, 16, 4),
    "answer": (0, 3, 1),  # the place of the first whole answer among the rungs
    "samples": (2, 7, 1),  # the place of the samples, after it
}
TEMPERATURES: Mapping[str, tuple[float, ...]] = {
    "usual": tuple(LadderSettings().temperatures),
    "cool": (0.2, 0.4, 0.6, 0.8),
    "hot": (0.8, 0.9, 1.0, 1.1),
    "wide": (0.3, 0.6, 0.9, 1.2),
}
PLACED = ("answer", "samples")
Choice = Mapping[str, int | str]
# The choice that gives the settings' defaults.
USUAL: Choice = {
    "first": 4,
    "brief": 2,
    "holes": 12,
    "pairs": 8,
    "inserts": 8,
    "answer": 1,
    "samples": 7,
    "heat": "usual",
}


class Sampler(Protocol):
    """Proposes choices and learns from how many tasks each solved."""

    def ask(self) -> Choice: ...

    def tell(self, solved: int) -> None: ...


@dataclass(frozen=True, kw_only=True)
class TunedLadder:
    """The result: the best settings found, and how they did on the other half (None: none were better)."""

    steps: LadderSettings
    pair: Pair | None = None

    @property
    def is_confirmed(self) -> bool:
        return self.pair is not None and is_better(self.pair)


def parse_preset(name: str) -> Preset:
    """The preset whose ladder is tuned. Raises `UsageError`, `SettingsError`."""
    preset = find_preset(name, harness=True)
    if not preset.tries_changes:
        raise UsageError(
            f"The preset {name} does not climb the ladder, so it has no numbers to tune.",
            remedy="Name default, or tune a template with PRESET:TEMPLATE.",
        )
    return preset


def make_steps(choice: Choice) -> LadderSettings:
    """The settings of a choice."""
    order = [rung for rung in RUNGS if rung not in PLACED]
    for rung in PLACED:
        order.insert(int(choice[rung]), rung)
    numbers = {name: choice[name] for name in NUMBERS if name not in PLACED}
    return LadderSettings(**numbers, order=order, temperatures=list(TEMPERATURES[str(choice["heat"])]))  # type: ignore[arg-type]


def make_arm(preset: Preset, steps: LadderSettings) -> Arm:
    """The arm that climbs by these settings, which replace all of the user's own."""
    settings: dict[str, Any] = {f"{PREFIX}.{key}": value for key, value in asdict(steps).items()}
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:8]
    return Arm(name=f"{preset.name}:{PREFIX}={digest}", preset=preset, settings=settings)


async def tune_ladder(
    preset: Preset, present: LadderSettings, trials: Trials, sampler: Sampler, *, rounds: int
) -> TunedLadder:
    """Tries this many choices besides the present settings; of equally good ones the first counts."""
    now = make_arm(preset, present)
    best, most = present, await trials.search(now)
    for number in range(rounds):
        steps = make_steps(sampler.ask())
        solved = await trials.search(make_arm(preset, steps))
        sampler.tell(solved)
        if solved > most:
            best, most = steps, solved
        trials.report_status(f"round {number + 1} of {rounds}: {solved} (best so far {most})")
    if best == present:
        return TunedLadder(steps=best)
    return TunedLadder(steps=best, pair=await trials.confirm(now, make_arm(preset, best)))


def format_toml(steps: LadderSettings) -> str:
    """The settings as lines of TOML with dotted keys."""
    return "".join(f"{PREFIX}.{key} = {json.dumps(value)}\n" for key, value in asdict(steps).items())
