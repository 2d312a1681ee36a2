"""Requirements, design and pseudocode before the code, and a review of the tests after it; each can be left out."""

from __future__ import annotations

import pytest

from double_problem import PROBLEM, WRONG
from greenloop.core.records.model import Role
from greenloop.drafting.feedback.planners import lifecycle
from planner_answers import Planner, attempts_with, plan_with

SAID = {
    "requirements": "1. takes a number\n2. gives its double",
    "design": "1. one state: waiting\n2. a number leads to its double",
    "pseudocode": "result = x\nadd x to result\nreturn result",
}


async def test_each_stage_sees_the_earlier_ones_and_the_code_all_of_them():
    note, planner = await plan_with(lifecycle, *SAID.values())
    assert note.fields["artefacts"] == SAID
    assert note.fields["plans"] == (
        f"Requirements:\n{SAID['requirements']}\n\nDesign:\n{SAID['design']}\n\nPseudocode:\n{SAID['pseudocode']}",
    )
    assert planner.roles == [Role.PLANNER] * 3
    assert "gives its double" in planner.texts[1]
    assert "one state: waiting" in planner.texts[2]


@pytest.mark.parametrize("stage", lifecycle.BEFORE)
async def test_a_stage_that_is_left_out_has_no_call_and_no_part_of_the_prompt(stage):
    """Row #55."""
    said = {name: text for name, text in SAID.items() if name != stage}
    note, planner = await plan_with(lifecycle, *said.values(), skip=(stage,))
    assert note.fields["artefacts"] == said
    assert stage.capitalize() not in note.fields["plans"][0]
    assert len(planner.asked) == 2


async def test_without_any_stage_nothing_is_asked_and_nothing_is_wrong():
    note, planner = await plan_with(lifecycle, skip=lifecycle.BEFORE)
    assert note.fields == {"plans": (), "artefacts": {}}
    assert planner.asked == []


async def test_a_stage_that_cannot_be_read_is_said_and_the_others_count():
    note, _planner = await plan_with(lifecycle, SAID["requirements"], "", "no")
    assert note.fields["artefacts"] == {"requirements": SAID["requirements"]}
    assert note.fields["unparsable"] == "an empty answer"


async def test_failing_tests_are_reviewed():
    note, _planner = await plan_with(lifecycle, *SAID.values())
    critic = Planner("Both tests check the doubling; the code adds one.")
    reviewed = await lifecycle.describe(PROBLEM, attempts_with(note, WRONG[0]), critic.tools)
    assert reviewed.text == "Review of the tests: Both tests check the doubling; the code adds one."
    assert reviewed.fields["artefacts"] == {"review": "Both tests check the doubling; the code adds one."}
    assert (critic.roles, "gives its double" in critic.texts[0]) == ([Role.CRITIC], True)
    silent = Planner(skip=("review",))
    assert (await lifecycle.describe(PROBLEM, attempts_with(note, WRONG[0]), silent.tools)).text == ""
    assert silent.asked == []
