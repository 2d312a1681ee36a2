"""Several verified plans."""

from __future__ import annotations

from greenloop_lab.drafting.feedback import slpw
from planner_answers import PLAN, plan_with


async def test_a_plan_for_each_temperature_without_repeats():
    values = "Test 1: return = 10"
    note, planner = await plan_with(slpw, PLAN, values, "- add x to itself", values, PLAN, values)
    assert [request.temperature for request in planner.asked] == [0.0, 0.0, 0.6, 0.0, 0.9, 0.0]
    assert list(note.fields["artefacts"]) == ["plan 1", "verification 1", "plan 2", "verification 2"]
    assert len(note.fields["plans"]) == len(note.fields["expected"]) == 2


async def test_a_plan_that_cannot_be_read_leaves_the_others():
    note, _planner = await plan_with(slpw, "no", "- add x to itself", "Test 1: return = 10", "```")
    assert len(note.fields["plans"]) == 1
    assert note.fields["artefacts"]["plan"] == "1. add x to itself"
    assert note.fields["unparsable"]
