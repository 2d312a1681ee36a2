"""The requests of turns: their room, without secrets, and what is recorded of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from greenloop.core.records.model import Message
from greenloop.engine.model_calls import ModelCalls
from greenloop.engine.presets import find_preset
from greenloop.models.roles import Models
from greenloop.plugins.conversations.turn_calls import LEAST_TURN_ROOM, TURN_ROOM, build_request, record
from greenloop.project.settings import AnswerSettings, HistorySettings, Settings

TALK = (Message(role="user", content="The key is s3cret-0123."),)


def make(**values) -> ModelCalls:
    settings = replace(Settings(), **values)
    return ModelCalls(
        settings=settings, preset=find_preset("default"), models=Models(settings=settings), secrets=("s3cret-0123",)
    )


@pytest.mark.parametrize(
    ("tokens", "room"), [(AnswerSettings().tokens, TURN_ROOM), (10, LEAST_TURN_ROOM), (9_000, 9_000)]
)
def test_a_turn_has_room_for_thinking_or_what_the_settings_allow(tokens, room):
    request = build_request(make(answer=AnswerSettings(tokens=tokens)), TALK, (), attempts=())
    assert request.max_tokens == room
    assert "s3cret" not in request.messages[0].content


@pytest.mark.parametrize("keeps", [True, False])
def test_the_messages_of_a_turn_are_kept_where_the_settings_say_so(keeps):
    sent = record(make(history=HistorySettings(messages=keeps)), TALK, {"system": "Be brief."})
    assert (sent.messages, list(sent.templates)) == (TALK if keeps else (), ["conversation/system"])
