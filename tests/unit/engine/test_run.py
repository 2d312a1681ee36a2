"""The feedback that an error's group gets, and the secrets that parts' questions do not hold."""

from __future__ import annotations

import random
from dataclasses import replace
from types import SimpleNamespace

import pytest

from double_problem import PROBLEM, failing_verdict
from greenloop.core.errors import SettingsError
from greenloop.core.ports import NoUser, Tools
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.model import ChatRequest, Message, Reply, Role, Usage
from greenloop.core.records.verdict import ErrorGroup, Status, Verdict
from greenloop.drafting.feedback import cases, raw
from greenloop.engine.feedback import Feedback
from greenloop.engine.loop.parts import keep_order, load_rank
from greenloop.engine.model_calls import ModelCalls
from greenloop.engine.presets import find_preset
from greenloop.project.settings import FeedbackSettings, PromptSettings, Settings

PRESET = replace(find_preset("plain"), feedback=("raw",), treat={"logic": ("cases",), "answer": ("cases",)})


TOOLS = Tools(ask=None, run=None, session=None, user=NoUser(), rng=random.Random(0))


def feedback(**names: list[str]) -> Feedback:
    return Feedback(settings=Settings(feedback=FeedbackSettings(**names)), preset=PRESET, tools=TOOLS)


@pytest.mark.parametrize(
    ("settings", "group", "part"),
    [
        ({}, ErrorGroup.RUNTIME, raw),
        ({}, ErrorGroup.LOGIC, cases),
        ({}, ErrorGroup.ANSWER, cases),
        ({}, None, raw),
        ({"logic": ["raw"]}, ErrorGroup.LOGIC, raw),
        ({"logic": ["cases"]}, ErrorGroup.RUNTIME, raw),
        ({"syntax": ["cases"]}, ErrorGroup.SYNTAX, cases),
        ({"runtime": ["cases"]}, ErrorGroup.RUNTIME, cases),
        ({"timeout": ["cases"]}, ErrorGroup.TIMEOUT, cases),
        ({"resource": ["cases"]}, ErrorGroup.RESOURCE, cases),
    ],
)
async def test_the_group_of_an_error_chooses_its_feedback(settings, group, part):
    newest = Attempt(number=1, verdict=failing_verdict(), group=group)
    notes = await feedback(**settings).describe(PROBLEM, [newest])
    assert notes == (await part.describe(PROBLEM, [newest], None),)


async def test_several_parts_speak_in_the_order_they_are_named():
    newest = Attempt(number=1, verdict=failing_verdict(), group=ErrorGroup.LOGIC)
    notes = await feedback(logic=["raw", "cases"]).describe(PROBLEM, [newest])
    assert [note.text for note in notes] == [
        (await raw.describe(PROBLEM, [newest], None)).text,
        (await cases.describe(PROBLEM, [newest], None)).text,
    ]


async def test_what_passed_needs_no_feedback():
    passed = Attempt(number=1, verdict=Verdict(status=Status.PASSED))
    assert await feedback().describe(PROBLEM, [passed]) == ()


def test_a_feedback_part_that_does_not_exist_is_named_before_any_model_is_asked():
    with pytest.raises(SettingsError, match="There is no feedback part named 'case'") as caught:
        feedback(logic=["case"])
    assert caught.value.remedy == "Choose one of: cases."


async def test_what_parts_ask_holds_no_secret():
    requests: list[ChatRequest] = []

    class Model:
        name = "critic"

        async def complete(self, request, on_token) -> Reply:
            requests.append(request)
            return Reply(text="", usage=Usage(), model="critic")

    class Models:
        async def model_for(self, role):
            return Model()

    calls = ModelCalls(settings=Settings(), preset=PRESET, models=Models(), secrets=("sk-12345678",))
    await calls.ask_for_part(
        ChatRequest(messages=(Message(role="user", content="key = 'sk-12345678'"),), role=Role.CRITIC)
    )
    assert "sk-12345678" not in requests[0].messages[0].content
    assert requests[0].messages[0].content.startswith("key = ")


@pytest.mark.parametrize(
    ("context", "prompt", "tokens"),
    [
        (0, PromptSettings(), 2600),
        (4096, PromptSettings(), 2600),
        (128_000, PromptSettings(), 8000),
        (128_000, PromptSettings(room=4000), 4000),
        (128_000, PromptSettings(tokens=1000), 1000),
    ],
    ids=["unknown", "small", "large", "as set", "a number of one's own"],
)
async def test_a_model_that_is_known_to_take_more_gets_longer_prompts(context, prompt, tokens):
    class Model:
        def __init__(self) -> None:
            self.context = context

    class Models:
        async def model_for(self, _role):
            return Model()

    calls = ModelCalls(settings=Settings(prompt=prompt), preset=PRESET, models=Models(), secrets=())
    await calls.drafter()
    assert calls.prompt_tokens == tokens


async def test_a_part_that_describes_passes_is_asked_about_them():
    preset = replace(PRESET, feedback=("raw", "one_call"), treat={})
    answer = "```python\ndef double(x):\n    return x\n```\nIt does nothing.\n```python\ndef double(x):\n    return 2 * x\n```"
    passed = Attempt(number=1, verdict=Verdict(status=Status.PASSED), answer=answer)
    (note,) = await Feedback(settings=Settings(), preset=preset, tools=TOOLS).describe(PROBLEM, [passed])
    assert note.fields["reflection"] == "It does nothing."


@pytest.mark.usefixtures("install")
def test_without_the_laboratory_candidates_are_not_ranked():
    assert load_rank(SimpleNamespace()) is keep_order
