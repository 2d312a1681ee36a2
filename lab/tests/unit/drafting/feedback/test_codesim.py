"""A plan that the model follows by hand before any code, and failures that it follows by hand after it."""

from __future__ import annotations

import pytest

from critic import Critic
from double_problem import PROBLEM, RIGHT, WRONG
from greenloop.core.records.model import Role
from greenloop_lab.drafting.feedback import codesim
from planner_answers import PLAN, attempts_with, plan_with


async def test_a_plan_that_is_judged_wrong_is_made_once_more():
    """Row #30: one more plan before the first call for code."""
    note, planner = await plan_with(codesim, "1. add two", "5 gives 7\nverdict: wrong, because 7 is not 10", PLAN)
    assert note.fields["plans"] == (PLAN,)
    assert list(note.fields["artefacts"]) == ["first plan", "simulation", "plan"]
    assert planner.roles == [Role.PLANNER] * 3
    assert "1. add two" in planner.texts[2]
    assert "7 is not 10" in planner.texts[2]
    assert (note.text, note.usage.tokens) == ("", 81)


async def test_a_plan_that_is_judged_right_is_kept():
    note, planner = await plan_with(codesim, PLAN, "5 gives 10\n**Verdict:** right.")
    assert note.fields == {
        "plans": (PLAN,),
        "artefacts": {"plan": PLAN, "simulation": "5 gives 10\n**Verdict:** right."},
    }
    assert "assert double(5) == 10" in planner.texts[1]


async def test_what_cannot_be_read_is_said_and_the_plan_kept_or_left_out():
    note, planner = await plan_with(codesim, "no")
    assert (note.fields["plans"], note.fields["unparsable"], len(planner.asked)) == ((), "no", 1)
    note, _planner = await plan_with(codesim, PLAN, "Let me see ...")
    assert (note.fields["plans"], note.fields["unparsable"]) == ((PLAN,), "Let me see ...")
    note, _planner = await plan_with(codesim, PLAN, "verdict: wrong", "")
    assert (note.fields["plans"], note.fields["unparsable"]) == ((PLAN,), "an empty answer")


async def test_each_stage_can_be_left_out():
    note, planner = await plan_with(codesim, PLAN, skip=("simulation",))
    assert note.fields == {"plans": (PLAN,), "artefacts": {"plan": PLAN}}
    assert len(planner.asked) == 1
    silent = Critic(skip=("debugging",))
    assert (await codesim.describe(PROBLEM, attempts_with(note, WRONG[0]), silent.tools)).text == ""
    assert silent.asked == []


async def test_a_failure_is_followed_through_plan_and_code():
    note, _planner = await plan_with(codesim, PLAN, "verdict: right")
    critic = Critic("The code adds one where the plan doubles.")
    debugged = await codesim.describe(PROBLEM, attempts_with(note, WRONG[0]), critic.tools)
    assert debugged.text == "Followed by hand: The code adds one where the plan doubles."
    assert debugged.fields == {"explanation": "The code adds one where the plan doubles."}
    assert critic.roles == [Role.CRITIC]
    assert all(each in critic.texts[0] for each in (PLAN, WRONG[0], "assert double(5) == 10  # output: 6"))


async def test_a_pass_and_an_empty_answer_give_no_text():
    note, _planner = await plan_with(codesim, PLAN, "verdict: right")
    assert (await codesim.describe(PROBLEM, attempts_with(note, RIGHT), Critic().tools)).text == ""
    assert (await codesim.describe(PROBLEM, attempts_with(note, WRONG[0]), Critic("").tools)).fields == {}


@pytest.mark.parametrize(
    ("answer", "is_right"),
    [
        ("verdict: right", True),
        ("Verdict: The plan is correct", True),
        ("verdict: not right", False),
        ("**verdict**: Wrong, because 1 is not 2", False),
        ("step 1 is right\nThe plan is incorrect.", False),
        ("step 1 is wrong\nAll in all the plan is correct.", True),
        ("who knows", None),
        ("", None),
    ],
)
def test_what_a_simulation_says(answer, is_right):
    assert codesim.judge_plan(answer) is is_right
