"""Modules that the model makes itself: what they say of attempts; how they come about is tested with other stages."""

from __future__ import annotations

from critic import Critic
from double_problem import PROBLEM, WRONG
from greenloop_lab.drafting.feedback import self_modules
from planner_answers import attempts_with, plan_with


async def test_attempts_are_described_by_other_parts():
    note, _planner = await plan_with(self_modules, "1. add x to x", skip=("modules", "refinement"))
    assert (await self_modules.describe(PROBLEM, attempts_with(note, WRONG[0]), Critic().tools)).fields == {}
