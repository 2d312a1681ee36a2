"""The conditions of an experiment: which settings a task-run gets, and how its row describes the arm."""

from __future__ import annotations

import sys

from greenloop.plugins.improve.aims import Goal
from greenloop_lab.bench import plans
from greenloop_lab.bench.measure import Conditions
from greenloop_lab.bench.tasks import Task

TASK = Task(id="t", kind="draft", target="test_m.py", files={}, cases=["test_m.py::test_it"])


def test_the_settings_of_an_arm_win_over_those_of_the_experiment_and_these_over_the_users():
    conditions = Conditions(
        settings={"attempts": 3, "tokens": 5000}, user_settings={"attempts": 9, "tokens": 9000, "sandbox.seconds": 7.0}
    )
    settings = conditions.settings_of(plans.parse_arm("plain:attempts=2"), TASK)
    assert (settings.attempts, settings.tokens, settings.sandbox.seconds) == (2, 5000, 7.0)
    assert (settings.preset, settings.interpreter) == ("plain", sys.executable)


def test_a_row_describes_the_arm_without_the_users_own_settings():
    conditions = Conditions(settings={"tokens": 5000}, user_settings={"attempts": 9}, goal=Goal.TIME)
    fields = conditions.arm_fields(plans.parse_arm("plain:attempts=2"))
    assert fields == {"preset": "plain", "parts": {}, "settings": {"tokens": 5000, "attempts": 2}, "goal": "time"}
