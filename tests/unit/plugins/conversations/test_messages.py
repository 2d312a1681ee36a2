"""The messages of a conversation: each request begins with the one before, whatever happened in between."""

from __future__ import annotations

import pytest

from attempts import attempt, baseline, look
from greenloop.core.records.attempt import Finding, Move
from greenloop.core.records.model import ToolSpec
from greenloop.core.text.written_calls import read_calls
from greenloop.plugins.conversations.messages import build_messages, describe_tools, turns

LOOKS = (
    look("read", "m.py, lines 1-2:\na\nb", said="Let me see.", arguments='{"path": "m.py"}'),
    look("run", "0 passed", arguments='{"tests": ["t.py"]}', identity="call_2"),
    look("search", "nothing", reply=1, arguments='{"text": "a"}', identity="call_3"),
)
ATTEMPTS = [
    baseline(),
    attempt(1, Move.MUTATE),
    attempt(2, looks=LOOKS, note="Still failing."),
    attempt(3, finding=Finding(error_class="NoCode", message="No code."), answer=""),
    attempt(4, Move.MERGE),
    attempt(5, note="The target passes."),
]


def contents(messages):
    return [(message.role, message.content) for message in messages]


def test_a_conversation():
    messages = build_messages("Be good.", "It fails.", ATTEMPTS)
    assert contents(messages) == [
        ("system", "Be good."),
        ("user", "It fails."),
        ("assistant", "Let me see."),
        ("tool", "m.py, lines 1-2:\na\nb"),
        ("tool", "0 passed"),
        ("assistant", ""),
        ("tool", "nothing"),
        ("assistant", "answer 2"),
        ("user", "Still failing."),
        ("assistant", "(no answer)"),
        ("user", "No code."),
        ("assistant", "answer 5"),
        ("user", "The target passes."),
    ]
    assert [call.name for call in messages[2].calls] == ["read", "run"]
    assert [message.call_id for message in messages if message.role == "tool"] == ["call_read", "call_2", "call_3"]


@pytest.mark.parametrize("plain", [False, True])
def test_each_request_begins_with_the_one_before(plain):
    before = build_messages("s", "r", ATTEMPTS[:1], plain=plain)
    for count in range(1, len(ATTEMPTS) + 1):
        known = ATTEMPTS[:count]
        newest = known[-1]
        for number in range(len(newest.looks) + 1) if newest in turns(known) else ():
            if 0 < number < len(newest.looks) and newest.looks[number - 1].reply == newest.looks[number].reply:
                continue  # calls of one reply are sent together
            request = build_messages("s", "r", known[:-1], newest.looks[:number], plain=plain)
            assert request[: len(before)] == before
            before = request
        request = build_messages("s", "r", known, plain=plain)
        assert request[: len(before)] == before
        before = request


def test_plain_messages_have_calls_as_lines_that_are_read_again():
    messages = build_messages("s", "r", ATTEMPTS, plain=True)
    assert {message.role for message in messages} == {"system", "user", "assistant"}
    assert not any(message.calls for message in messages)
    assert messages[2].content.startswith("Let me see.\n\nLOOK read ")
    written = [call.name for message in messages for call in read_calls(message.content)]
    assert written == ["read", "run", "search"]


def test_an_answer_without_notes_still_gets_an_answer():
    silent = build_messages("s", "r", [baseline(), attempt(1)])
    assert silent[-1].content == "It was not accepted. Answer with other edits."


def test_tools_are_described_by_a_call_that_can_be_read():
    properties = {"path": {"type": "string", "description": "a path"}, "tests": {"type": "array"}}
    tool = ToolSpec(name="read", description="Reads.", parameters={"properties": properties})
    text = describe_tools("Write:\n$tools\n", [tool])
    assert text == 'Write:\nLOOK read {"path": "a path", "tests": ["…"]}\n    Reads.'
    assert [call.name for call in read_calls(text)] == ["read"]
