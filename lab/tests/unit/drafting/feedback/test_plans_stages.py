"""Planners that write in stages before any code: each stage sees the earlier ones, and each can be left out."""

from __future__ import annotations

import pytest

from greenloop.core.errors import SettingsError
from greenloop.core.records.model import Role
from greenloop_lab.drafting.feedback import lifecycle, self_modules
from planner_answers import plan_with

LIFECYCLE = {
    "requirements": "1. takes a number\n2. gives its double",
    "design": "1. one state: waiting\n2. a number leads to its double",
    "pseudocode": "result = x\nadd x to result\nreturn result",
}
SELF_MODULES = {"modules": "1. doubling", "plan": "1. add x to x", "refinement": "1. multiply x by two"}
STAGES = [(lifecycle, LIFECYCLE), (self_modules, SELF_MODULES)]


@pytest.mark.parametrize(
    ("part", "said", "plan"),
    [
        (lifecycle, LIFECYCLE, "\n\n".join(f"{stage.capitalize()}:\n{text}" for stage, text in LIFECYCLE.items())),
        (self_modules, SELF_MODULES, SELF_MODULES["refinement"]),
    ],
)
async def test_each_stage_sees_the_earlier_ones(part, said, plan):
    """Rows #54 and #55."""
    note, planner = await plan_with(part, *said.values())
    assert note.fields == {"plans": (plan,), "artefacts": said}
    assert planner.roles == [Role.PLANNER] * 3
    first, second, _last = (f"{stage.capitalize()}:\n{text}" for stage, text in said.items())
    assert (first in planner.texts[1], first in planner.texts[2], second in planner.texts[2]) == (True, True, True)


@pytest.mark.parametrize(("part", "said", "stage"), [(part, said, stage) for part, said in STAGES for stage in said])
async def test_a_stage_that_is_left_out_has_no_call_and_no_part_of_the_prompt(part, said, stage):
    """Rows #54 and #55."""
    kept = {name: text for name, text in said.items() if name != stage}
    note, planner = await plan_with(part, *kept.values(), skip=(stage,))
    assert note.fields["artefacts"] == kept
    assert stage.capitalize() not in note.fields["plans"][0]
    assert len(planner.asked) == 2


@pytest.mark.parametrize(("part", "said"), STAGES)
async def test_without_any_stage_nothing_is_asked_and_nothing_is_wrong(part, said):
    note, planner = await plan_with(part, skip=tuple(said))
    assert note.fields == {"plans": (), "artefacts": {}}
    assert planner.asked == []


@pytest.mark.parametrize(
    ("part", "answers", "artefacts", "unparsable"),
    [
        (lifecycle, ("1. takes a number", "", "no"), {"requirements": "1. takes a number"}, "an empty answer"),
        (self_modules, ("no", ""), {}, "no"),  # without modules and plan there is nothing to refine
    ],
)
async def test_a_stage_that_cannot_be_read_is_said_and_the_others_count(part, answers, artefacts, unparsable):
    note, planner = await plan_with(part, *answers)
    assert (note.fields["artefacts"], note.fields["unparsable"]) == (artefacts, unparsable)
    assert len(planner.asked) == len(answers)


async def test_a_stage_that_no_planner_has_is_named_before_any_model_is_asked():
    with pytest.raises(SettingsError, match="No planner has a stage 'desing'") as caught:
        await plan_with(lifecycle, *LIFECYCLE.values(), skip=("simulation", "desing"))
    assert "design" in caught.value.remedy
