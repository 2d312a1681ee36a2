"""A planted better template is found and believed; a lucky worse one is refused."""

from __future__ import annotations

import random

import pytest

from greenloop.core.errors import SettingsError, UsageError
from greenloop_lab.bench.tuning import prompts

BETTER = "Think first.\n$feedback\n\nAnswer with `$names`."
LUCKY = "Good luck!\n$feedback\n`$names`"
BROKEN = "Answer with `$names`."


def template_of(arm) -> str:
    return arm.preset.templates["draft"]


@pytest.fixture
def tunable(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return prompts.parse_tunable("default:draft")


def test_a_template_is_named_by_its_preset(tunable):
    assert (tunable.name, tunable.preset.prompt) == ("default/draft", "default")
    assert "$feedback" in tunable.text
    arm = tunable.arm(BETTER)
    assert arm.preset.templates == {"draft": BETTER}
    assert arm.name.startswith("default:draft=")
    assert arm.name != tunable.arm(LUCKY).name
    assert "default" in prompts.presets_with(tunable)
    assert "plain" not in prompts.presets_with(tunable)
    with pytest.raises(UsageError, match="has no template 'drift'"):
        prompts.parse_tunable("default:drift")
    with pytest.raises(SettingsError, match="no preset named 'defult'"):
        prompts.parse_tunable("defult:draft")


async def test_a_better_template_is_found_and_confirmed(tunable, make_trials, make_tasks, writer):
    # It solves what the built-in one solves, and two thirds of the rest.
    def right(arm, task):
        number = int(task.id.rpartition("-")[2])
        return number % 2 == 0 or (template_of(arm).startswith("Think") and number % 3 > 0)

    trials = make_trials(make_tasks(60), right)
    model = writer(BROKEN, "It is all the same: $feedback $names", BETTER, BETTER)
    tuned = await prompts.tune_template(tunable, trials, model, rounds=5, seed=1)
    assert tuned.text == BETTER + "\n"
    assert tuned.is_confirmed
    assert tuned.pair.only_one == 0
    # The next question says why an answer was refused, and the text of the best one is what is rewritten.
    asked = [request.messages[-1].content for request in model.requests]
    assert "not usable: it lacks the variable $feedback" in asked[1]
    assert BETTER in asked[3].partition("</template>")[0]
    assert len({request.seed for request in model.requests}) == 5


async def test_a_worse_one_that_was_lucky_is_refused(tunable, make_trials, make_tasks, writer):
    tasks = make_tasks(60)
    trials = make_trials(tasks, lambda arm, task: None)
    searched = {task.id for task in trials.halves.search}
    luck = random.Random(1)
    solved = {task.id: luck.random() < 0.5 for task in tasks}

    # Where it was chosen, it solves everything; elsewhere, a little less than the built-in one.
    def right(arm, task):
        if template_of(arm).startswith("Good luck"):
            return task.id in searched or (solved[task.id] and luck.random() < 0.9)
        return solved[task.id]

    trials = make_trials(tasks, right)
    tuned = await prompts.tune_template(tunable, trials, writer(LUCKY), rounds=3, seed=1)
    assert tuned.text == LUCKY + "\n"
    assert tuned.pair.only_other == 0
    assert not tuned.is_confirmed


async def test_where_nothing_is_better_the_other_half_is_not_touched(tunable, make_trials, make_tasks, writer):
    trials = make_trials(make_tasks(20), lambda arm, task: int(task.id[-1]) % 2 == 0)
    tuned = await prompts.tune_template(tunable, trials, writer(BETTER), rounds=2, seed=1)
    assert (tuned.pair, tuned.text, tuned.is_confirmed) == (None, tunable.text, False)
    assert {task for _arm, task in trials.asked} == {task.id for task in trials.halves.search}


async def test_where_all_is_solved_no_model_is_asked(tunable, make_trials, make_tasks, writer):
    model = writer(BETTER)
    trials = make_trials(make_tasks(20), lambda arm, task: True)
    tuned = await prompts.tune_template(tunable, trials, model, rounds=2, seed=1)
    assert tuned.pair is None
    assert model.requests == []
