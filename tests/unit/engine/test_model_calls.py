"""What is recorded of a request: hashes of its templates, and its messages only where you said so."""

from __future__ import annotations

import hashlib

import pytest

from double_problem import PROBLEM
from greenloop.core.records.attempt import Draft, Mask, Move
from greenloop.core.records.model import ChatRequest, InfillRequest, Message, Role
from greenloop.engine.model_calls import ModelCalls
from greenloop.engine.presets import find_preset
from greenloop.project import templates
from greenloop.project.settings import HistorySettings, Settings

MESSAGES = (Message(role="system", content="s"), Message(role="user", content="u"))
MASKED = Draft(parent=0, move=Move.INFILL, role=Role.REFINER, masked=Mask(region=PROBLEM.regions[0], start=1, end=1))


def calls(*, messages: bool, preset: str = "default") -> ModelCalls:
    settings = Settings(history=HistorySettings(messages=messages))
    return ModelCalls(settings=settings, preset=find_preset(preset), models=None, secrets=())


@pytest.mark.parametrize("keep", [True, False])
def test_messages_are_kept_only_with_the_setting(keep):
    draft = Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER)
    sent = calls(messages=keep).sent(PROBLEM, draft, ChatRequest(messages=MESSAGES))
    assert sent.messages == (MESSAGES if keep else ())
    assert list(sent.templates) == ["system", "task", "draft"]


@pytest.mark.parametrize(
    ("draft", "names"),
    [
        (Draft(parent=0, move=Move.REFINE, role=Role.REFINER), ["system", "task", "refine"]),
        (Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER, prompt="strategy"), ["system", "task", "strategy"]),
        (MASKED, ["infill"]),
    ],
)
def test_the_templates_of_a_request_have_a_hash_each(draft, names):
    sent = calls(messages=False).sent(PROBLEM, draft, ChatRequest(messages=MESSAGES))
    texts = templates.preset_templates("default")
    assert sent.templates == {name: hashlib.sha256(texts[name].encode()).hexdigest()[:12] for name in names}


def test_another_text_of_a_template_has_another_hash():
    draft = Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER)
    one, other = (
        calls(messages=False, preset=name).sent(PROBLEM, draft, ChatRequest(messages=())).templates
        for name in ("default", "improve")
    )
    assert one["draft"] != other["draft"]


def test_a_second_question_names_its_template_too():
    draft = Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER)
    assert "reask" in calls(messages=False).sent(PROBLEM, draft, ChatRequest(messages=()), is_second=True).templates


def test_a_hole_has_what_stands_before_and_after_it():
    sent = calls(messages=True).sent(PROBLEM, MASKED, InfillRequest(prefix="a", suffix="b"))
    assert [(each.role, each.content) for each in sent.messages] == [("prefix", "a"), ("suffix", "b")]
    assert sent.templates == {}
