"""What finds a recorded answer again, and replies with calls that survive a file."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import pytest

from greenloop.core.records.model import ChatRequest, Message, Reply, Role, ToolCall, ToolSpec, Usage
from greenloop.plugins.recordings.recorded import key_fields, reply_from

ASK = ChatRequest(messages=(Message(role="user", content="why"),))
TOOL = ToolSpec(name="read", description="Reads.", parameters={"type": "object"})
CALL = ToolCall(id="1", name="read", arguments="{}", extra={"signature": "s"})


def test_what_older_recordings_lack_changes_no_key():
    assert key_fields(ASK)["messages"] == [{"role": "user", "content": "why"}]
    assert "tools" not in key_fields(ASK)


@pytest.mark.parametrize("other", [replace(ASK, role=Role.CRITIC), replace(ASK, patience=9.0)])
def test_who_asks_and_how_patiently_is_no_part_of_a_key(other):
    assert key_fields(other) == key_fields(ASK)


@pytest.mark.parametrize(
    "other",
    [
        replace(ASK, tools=(TOOL,)),
        replace(ASK, messages=(*ASK.messages, Message(role="assistant", content="", calls=(CALL,)))),
        replace(ASK, temperature=0.5),
    ],
)
def test_what_a_model_is_given_is(other):
    assert key_fields(other) != key_fields(ASK)


def test_a_reply_survives_a_file():
    reply = Reply(text="", usage=Usage(prompt_tokens=3), model="m", calls=(CALL,), extra={"thinking": ["t"]})
    assert reply_from(json.loads(json.dumps(asdict(reply)))) == reply
    with pytest.raises(ValueError, match="Reply"):
        reply_from({"text": ""})
