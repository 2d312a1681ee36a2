"""Conversations with calls of tools, as text."""

from __future__ import annotations

from greenloop.core.records.model import Message, ToolCall
from greenloop.serving.plain_messages import plain_messages

READ = ToolCall(id="1", name="read", arguments='{"path": "m.py"}')
FIND = ToolCall(id="2", name="find", arguments="{}")


def test_calls_are_text_of_the_assistant_and_results_text_of_the_user():
    messages = (
        Message(role="user", content="Double x."),
        Message(role="assistant", content="", calls=(READ, FIND), extra={"signature": "s"}),
        Message(role="tool", content="x + 1", call_id="1"),
        Message(role="tool", content="", call_id="2"),
        Message(role="assistant", content="Once more.", calls=(READ,)),
        Message(role="tool", content="x + 1", call_id="unknown"),
        Message(role="assistant", content="x * 2"),
    )
    plain = plain_messages(messages)
    assert [(each.role, each.content) for each in plain] == [
        ("user", "Double x."),
        ("assistant", 'Call of read: {"path": "m.py"}\nCall of find: {}'),
        ("user", "Result of read:\nx + 1"),
        ("user", "Result of find:\n"),
        ("assistant", 'Once more.\n\nCall of read: {"path": "m.py"}'),
        ("user", "Result of a tool:\nx + 1"),
        ("assistant", "x * 2"),
    ]
    assert not any(each.calls or each.call_id for each in plain)
    assert (plain[0], plain[-1]) == (messages[0], messages[-1])


def test_a_result_belongs_to_the_last_call_with_its_id():
    again = ToolCall(id="1", name="find", arguments="{}")
    messages = (
        Message(role="assistant", content="", calls=(READ,)),
        Message(role="tool", content="x", call_id="1"),
        Message(role="assistant", content="", calls=(again,)),
        Message(role="tool", content="y", call_id="1"),
    )
    assert [each.content for each in plain_messages(messages) if each.role == "user"] == [
        "Result of read:\nx",
        "Result of find:\ny",
    ]
