"""Modules that the model makes itself, a plan with them, and its refinement; each can be left out."""

from __future__ import annotations

import pytest

from double_problem import PROBLEM, WRONG
from greenloop.core.records.model import Role
from greenloop.drafting.feedback.planners import self_modules
from planner_answers import Planner, attempts_with, plan_with

SAID = {"modules": "1. doubling", "plan": "1. add x to x", "refinement": "1. multiply x by two"}


async def test_task_modules_plan_refined_plan():
    """Row #54."""
    note, planner = await plan_with(self_modules, *SAID.values())
    assert note.fields == {"plans": ("1. multiply x by two",), "artefacts": SAID}
    assert planner.roles == [Role.PLANNER] * 3
    assert "Modules:\n1. doubling" in planner.texts[1]
    assert "Plan:\n1. add x to x" in planner.texts[2]


@pytest.mark.parametrize("stage", self_modules.STAGES)
async def test_a_stage_that_is_left_out_has_no_call(stage):
    said = {name: text for name, text in SAID.items() if name != stage}
    note, planner = await plan_with(self_modules, *said.values(), skip=(stage,))
    assert note.fields["artefacts"] == said
    assert len(planner.asked) == 2


async def test_what_cannot_be_read_is_said():
    note, planner = await plan_with(self_modules, "no", "")
    assert (note.fields["plans"], note.fields["unparsable"], len(planner.asked)) == ((), "no", 2)


async def test_attempts_are_described_by_other_parts():
    note, _planner = await plan_with(self_modules, *SAID.values())
    assert (await self_modules.describe(PROBLEM, attempts_with(note, WRONG[0]), Planner().tools)).fields == {}
