"""Calls of tools as lines of text: what is written is read, and code that looks like one is no call."""

import pytest

from greenloop.core.records.model import Message, ToolCall
from greenloop.core.text.written_calls import as_plain, read_calls, without_calls, write_calls

READ = ToolCall(id="a", name="read", arguments='{"path": "m.py",\n "lines": "1-9"}')
RUN = ToolCall(id="b", name="run", arguments="{}")


def named(text):
    return [(call.name, call.arguments) for call in read_calls(text)]


def test_what_is_written_is_read():
    assert named(write_calls([READ, RUN])) == [("read", '{"path": "m.py", "lines": "1-9"}'), ("run", "{}")]


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("I need more.\nLOOK run {}\n", [("run", "{}")]),
        ("```\nLOOK run {}\n```", [("run", "{}")]),
        ('- `LOOK read {"path": "m"}`', [("read", '{"path": "m"}')]),
        ("LOOK: run", [("run", "{}")]),
        ("We LOOK run {} here", []),
        ("```python\nTEXT = '''\nLOOK run {}\n'''\n```", []),
        ("LOOK at this", []),
        ("", []),
    ],
)
def test_only_lines_that_are_calls_count(text, calls):
    assert named(text) == calls


def test_the_rest_of_an_answer_with_calls_is_kept():
    assert without_calls("First an edit.\n\nLOOK run {}\n```\nLOOK run {}\n```\nThen more.") == (
        "First an edit.\n\n\nThen more."
    )
    assert without_calls("LOOK run {}") == ""


def test_a_conversation_with_calls_becomes_plain():
    said = Message(role="assistant", content="Wait.", calls=(RUN,), extra={"signature": "x"})
    result = Message(role="tool", content="1 failed", call_id="b")
    assert as_plain(said) == Message(role="assistant", content="Wait.\n\nLOOK run {}")
    assert as_plain(result) == Message(role="user", content="1 failed")
