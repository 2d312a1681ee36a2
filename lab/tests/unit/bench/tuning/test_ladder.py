"""Better numbers of the ladder are found and believed, lucky ones are refused."""

from __future__ import annotations

import tomllib
from dataclasses import asdict

import pytest

from greenloop.core.errors import UsageError
from greenloop.engine.presets import find_preset
from greenloop.project import configuration
from greenloop.project.settings import LadderSettings
from greenloop_lab.bench.tuning import ladder

PRESET = find_preset("default")


class Sampler:
    """Proposes these choices in turn, and keeps what it was told."""

    def __init__(self, *changes) -> None:
        self.choices = [{**ladder.USUAL, **change} for change in changes]
        self.told: list[int] = []

    def ask(self):
        return self.choices[len(self.told)]

    def tell(self, solved):
        self.told.append(solved)


def test_the_usual_choice_is_the_default_and_every_choice_can_be_set():
    assert ladder.make_steps(ladder.USUAL) == LadderSettings()
    for name, (low, high, _step) in ladder.NUMBERS.items():
        for value in (low, high):
            steps = ladder.make_steps({**ladder.USUAL, name: value})
            assert sorted(steps.order) == sorted(LadderSettings().order)
            settings, _warnings = configuration.load(None, command_line=dict(ladder.make_arm(PRESET, steps).settings))
            assert settings.ladder == steps
    assert ladder.make_steps({**ladder.USUAL, "answer": 0, "samples": 2}).order[:3] == ["answer", "holes", "samples"]


def test_lines_of_toml_say_the_same():
    steps = ladder.make_steps({**ladder.USUAL, "heat": "cool", "answer": 0})
    assert tomllib.loads(ladder.format_toml(steps)) == {"ladder": asdict(steps)}


async def test_better_numbers_are_found_and_confirmed(make_trials, make_tasks):
    def right(arm, task):
        return int(task.id[-1]) % 2 == 0 or arm.settings["ladder.holes"] == 20

    sampler = Sampler({}, {"holes": 4}, {"holes": 20}, {"holes": 20, "heat": "hot"})
    trials = make_trials(make_tasks(40), right)
    tuned = await ladder.tune_ladder(PRESET, LadderSettings(), trials, sampler, rounds=4)
    assert (tuned.steps.holes, tuned.steps.temperatures) == (20, LadderSettings().temperatures)
    assert tuned.is_confirmed
    assert sampler.told[2] == sampler.told[3] == 20
    assert sampler.told[0] == sampler.told[1] < 20


async def test_numbers_that_were_lucky_are_refused(make_trials, make_tasks):
    tasks = make_tasks(40)
    searched = {task.id for task in make_trials(tasks, lambda _arm, _task: True).halves.search}

    def right(arm, task):
        return arm.settings["ladder.holes"] == 20 and task.id in searched

    tuned = await ladder.tune_ladder(
        PRESET, LadderSettings(), make_trials(tasks, right), Sampler({"holes": 20}), rounds=1
    )
    assert tuned.steps.holes == 20
    assert not tuned.is_confirmed


async def test_where_nothing_is_better_nothing_is_confirmed(make_trials, make_tasks):
    trials = make_trials(make_tasks(20), lambda _arm, _task: True)
    tuned = await ladder.tune_ladder(PRESET, LadderSettings(), trials, Sampler({}, {"holes": 4}), rounds=2)
    assert tuned.pair is None
    assert not tuned.is_confirmed


def test_a_preset_without_a_ladder_is_told():
    assert ladder.parse_preset("default") == PRESET
    with pytest.raises(UsageError, match="does not climb the ladder"):
        ladder.parse_preset("plain")
