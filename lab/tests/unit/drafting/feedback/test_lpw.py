"""A plan with the values that it expects, and the first value of a traced run that is another one."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from critic import Critic
from double_problem import PROBLEM, WRONG
from greenloop.core.records.attempt import FeedbackNote
from greenloop.core.records.model import Role
from greenloop.core.text.json_codec import from_json, to_json
from greenloop_lab.drafting.feedback import lpw
from greenloop_sandbox import Execution
from planner_answers import PLAN, attempts_with, plan_with

VALUES = "Test 1:\nresult = 5\nresult = 10\nreturn = 10\nTest 2: result = 2, result = 4\nreturns 4"
FIVE, TWO = "test_m.py::test_five", "test_m.py::test_two"


def tools_with_trace(*steps: tuple[int, dict[str, str]], skip: tuple[str, ...] = (), **more):
    async def run(_attempt, selectors, lines):
        asked.append((selectors, [each.path for each in lines]))
        told = [[0, line, 1, values] for line, values in steps]
        record = {"kind": "watch", "id": FIVE, "files": ["m.py"], "hits": [], "steps": told}
        return replace(Execution(records=(record,), seconds=0.5), **more)

    asked: list = []
    return replace(Critic(skip=skip).tools, run=run), asked


# (1) def double(x):  (2) return x + 1
RAN = ((2, {"x": "5"}), (2, {"return": "6"}))


async def test_a_plan_and_the_values_of_every_shown_test():
    note, planner = await plan_with(lpw, PLAN, VALUES)
    verification = (
        "assert double(5) == 10\n    result = 5\n    result = 10\n    return = 10\n"
        "assert double(2) == 4\n    result = 2\n    result = 4\n    return = 4"
    )
    assert note.fields["artefacts"] == {"plan": PLAN, "verification": verification}
    assert note.fields["plans"] == (f"{PLAN}\n\nExpected values:\n{verification}",)
    assert note.fields["expected"][0][TWO] == [("result", "2"), ("result", "4"), ("return", "4")]
    assert "unparsable" not in note.fields
    assert (planner.roles, note.text, note.usage.tokens) == ([Role.PLANNER] * 2, "", 54)


async def test_the_first_divergence_has_variable_line_expected_and_observed():
    """Row #39."""
    note, _planner = await plan_with(lpw, PLAN, VALUES)
    tools, asked = tools_with_trace(*RAN)
    told = await lpw.describe(PROBLEM, attempts_with(note, WRONG[0]), tools)
    assert told.text == (
        "In the test `assert double(5) == 10` the code first leaves the plan at line 2 of m.py, `return x + 1`: "
        "the plan expects the result to be 10, but the result is 6."
    )
    assert told.fields["divergence"] == {
        "case": FIVE, "variable": "return", "path": "m.py", "line": 2, "expected": "10", "observed": "6",
    }  # fmt: skip
    assert told.fields["artefacts"] == {"first divergence": told.text}
    assert (asked, told.usage.test_seconds) == ([((FIVE,), ["m.py"])], 0.5)


async def test_notes_that_the_history_kept_still_have_the_expected_values():
    note, _planner = await plan_with(lpw, PLAN, VALUES)
    kept = from_json(FeedbackNote, json.loads(json.dumps(to_json(note))))
    tools, _asked = tools_with_trace(*RAN)
    assert "expects the result to be 10" in (await lpw.describe(PROBLEM, attempts_with(kept, WRONG[0]), tools)).text


async def test_a_verification_that_contradicts_its_test_is_asked_for_once_more():
    note, planner = await plan_with(lpw, PLAN, "Test 1: return = 7\nTest 2: return = 4", "Test 1:\nreturn = 10")
    assert "For `assert double(5) == 10` it ends with 7, but the test wants 10." in planner.texts[2]
    assert note.fields["expected"] == [{FIVE: [("return", "10")], TWO: [("return", "4")]}]


async def test_a_verification_without_a_result_is_asked_for_once_more():
    note, planner = await plan_with(lpw, PLAN, "Test 1: result = 10", "Test 1: result = 10, return = 10")
    assert "For `assert double(5) == 10` it has no `return`, but the test wants 10." in planner.texts[2]
    assert note.fields["expected"] == [{FIVE: [("result", "10"), ("return", "10")]}]


async def test_a_verification_that_is_still_wrong_is_not_used():
    note, _planner = await plan_with(lpw, PLAN, "Test 1: return = 7\nTest 2: return = 4", "Test 1: return = 8")
    assert note.fields["expected"] == [{TWO: [("return", "4")]}]


async def test_what_cannot_be_read_is_left_out_and_said():
    note, planner = await plan_with(lpw, "no")
    assert (note.fields["plans"], note.fields["unparsable"], len(planner.asked)) == ((), "no", 1)
    note, _planner = await plan_with(lpw, PLAN, "I follow the plan.")
    assert (note.fields["plans"], note.fields["unparsable"]) == ((PLAN,), "I follow the plan.")
    tools, asked = tools_with_trace(*RAN)
    assert (await lpw.describe(PROBLEM, attempts_with(note, WRONG[0]), tools)).text == ""
    assert asked == []


@pytest.mark.parametrize("steps", [(), ((2, {"y": "1"}),), ((2, {"x": "5"}), (2, {"return": "10"}))])
async def test_a_run_without_a_value_that_differs_gives_no_text(steps):
    note, _planner = await plan_with(lpw, PLAN, VALUES)
    tools, asked = tools_with_trace(*steps)
    assert (await lpw.describe(PROBLEM, attempts_with(note, WRONG[0]), tools)).fields == {}
    assert len(asked) == 1


async def test_an_exception_in_place_of_the_result():
    note, _planner = await plan_with(lpw, PLAN, VALUES)
    tools, _asked = tools_with_trace((2, {"x": "5"}), (2, {"raise": "ValueError('no')"}))
    told = await lpw.describe(PROBLEM, attempts_with(note, WRONG[0]), tools)
    assert told.text.endswith("the plan expects the result to be 10, but ValueError('no') is raised.")


async def test_each_stage_can_be_left_out():
    note, planner = await plan_with(lpw, PLAN, skip=("verification",))
    assert note.fields["artefacts"] == {"plan": PLAN}
    assert note.fields["plans"] == (PLAN,)
    assert len(planner.asked) == 1
    note, _planner = await plan_with(lpw, PLAN, VALUES)
    tools, asked = tools_with_trace(*RAN, skip=("divergence",))
    assert (await lpw.describe(PROBLEM, attempts_with(note, WRONG[0]), tools)).text == ""
    assert asked == []
