"""A review of the tests that the code fails, which can be left out; the stages before the code have their own tests."""

from __future__ import annotations

from critic import Critic
from double_problem import PROBLEM, WRONG
from greenloop.core.records.model import Role
from greenloop_lab.drafting.feedback import lifecycle
from planner_answers import attempts_with, plan_with


async def test_failing_tests_are_reviewed():
    note, _planner = await plan_with(lifecycle, "1. gives its double", skip=("design", "pseudocode"))
    critic = Critic("Both tests check the doubling; the code adds one.")
    reviewed = await lifecycle.describe(PROBLEM, attempts_with(note, WRONG[0]), critic.tools)
    assert reviewed.text == "Review of the tests: Both tests check the doubling; the code adds one."
    assert reviewed.fields["artefacts"] == {"review": "Both tests check the doubling; the code adds one."}
    assert (critic.roles, "gives its double" in critic.texts[0]) == ([Role.CRITIC], True)
    silent = Critic(skip=("review",))
    assert (await lifecycle.describe(PROBLEM, attempts_with(note, WRONG[0]), silent.tools)).text == ""
    assert silent.asked == []
