"""A request after calibration: which feedback an error gets, what is kept from the model."""

from __future__ import annotations

import random
from dataclasses import replace
from types import SimpleNamespace

import pytest

from doubling import PROBLEM, unwritten
from greenloop.core import registry
from greenloop.core.errors import SettingsProblem
from greenloop.core.ports import Nobody, Tools
from greenloop.core.records import Attempt, Completion, Group, Message, Reply, Role, Status, Usage, Verdict
from greenloop.drafting.feedback import cases, diff, generic, raw
from greenloop.engine.run import Course
from greenloop.project.settings import FeedbackSettings, Settings

PRESET = replace(registry.preset("plain"), feedback=("raw",), treat={"logic": ("cases",), "answer": ("generic",)})


TOOLS = Tools(ask=None, run=None, session=None, user=Nobody(), rng=random.Random(0))


def course(*, secrets: tuple[str, ...] = (), models=None, **feedback: list[str]) -> Course:
    settings = Settings(feedback=FeedbackSettings(**feedback))
    return Course(
        bed=SimpleNamespace(settings=settings),
        calibration=SimpleNamespace(problem=PROBLEM),
        sandbox=None,
        preset=PRESET,
        models=models,
        user=None,
        secrets=secrets,
        trusted="",
    )


@pytest.mark.parametrize(
    ("settings", "group", "part"),
    [
        ({}, Group.RUNTIME, raw),
        ({}, Group.LOGIC, cases),
        ({}, Group.ANSWER, generic),
        ({}, None, raw),
        ({"logic": ["diff"]}, Group.LOGIC, diff),
        ({"logic": ["diff"]}, Group.RUNTIME, raw),
        ({"syntax": ["generic"]}, Group.SYNTAX, generic),
        ({"runtime": ["diff"]}, Group.RUNTIME, diff),
        ({"timeout": ["cases"]}, Group.TIMEOUT, cases),
        ({"resource": ["cases"]}, Group.RESOURCE, cases),
    ],
)
async def test_the_group_of_an_error_chooses_its_feedback(settings, group, part):
    newest = Attempt(number=1, verdict=unwritten(), group=group)
    notes = await course(**settings)._describe(TOOLS, PROBLEM, [newest])
    assert notes == (await part.describe(PROBLEM, [newest], None),)


async def test_several_parts_speak_in_the_order_they_are_named():
    newest = Attempt(number=1, verdict=unwritten(), group=Group.LOGIC)
    notes = await course(logic=["generic", "cases"])._describe(TOOLS, PROBLEM, [newest])
    assert [note.text for note in notes] == [
        generic.SENTENCE,
        (await cases.describe(PROBLEM, [newest], None)).text,
    ]


async def test_what_passed_needs_no_feedback():
    assert await course()._describe(TOOLS, PROBLEM, [Attempt(number=1, verdict=Verdict(status=Status.PASSED))]) == ()


def test_a_feedback_part_that_does_not_exist_is_named_before_any_model_is_asked():
    with pytest.raises(SettingsProblem, match="There is no feedback part named 'dif'") as caught:
        course(logic=["dif"])
    assert caught.value.remedy == "Choose one of: diff."


async def test_what_parts_ask_holds_no_secret():
    asked: list[Completion] = []

    class Model:
        name = "critic"

        async def complete(self, request, on_token) -> Reply:
            asked.append(request)
            return Reply(text="", usage=Usage(), model="critic")

    class Models:
        async def of(self, role):
            return Model()

    made = course(secrets=("sk-12345678",), models=Models())
    await made.asking.quietly(
        Completion(messages=(Message(role="user", content="key = 'sk-12345678'"),), role=Role.CRITIC)
    )
    assert "sk-12345678" not in asked[0].messages[0].content
    assert asked[0].messages[0].content.startswith("key = ")
