"""Calls of tools as lines of text: what is written is read, and code that looks like one is no call."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenloop.core.records.model import Message, ToolCall
from greenloop.core.text.written_calls import as_plain, read_calls, without_calls, write_calls

READ = ToolCall(id="a", name="read", arguments='{"path": "m.py",\n "lines": "1-9"}')
RUN = ToolCall(id="b", name="run", arguments="{}")


def named(text):
    return [(call.name, call.arguments) for call in read_calls(text)]


def test_what_is_written_is_read():
    assert named(write_calls([READ, RUN])) == [("read", '{"path": "m.py", "lines": "1-9"}'), ("run", "{}")]


VALUES = st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.text(), max_size=3)


@given(
    st.lists(
        st.tuples(st.sampled_from(["read", "run", "x_1"]), st.dictionaries(st.text(), VALUES, max_size=3)), max_size=3
    ),
    st.booleans(),
)
def test_whatever_is_written_is_read(calls, ascii_only):
    made = [ToolCall(id="", name=name, arguments=json.dumps(each, ensure_ascii=ascii_only)) for name, each in calls]
    found = read_calls(write_calls(made))
    assert [(call.name, json.loads(call.arguments)) for call in found] == calls
    assert len({call.id for call in found}) == len(found)


@pytest.mark.parametrize("arguments", ['{"a": "x\ny"', "{", "}{", "not json", '["a"]', "{}\nLOOK other {}", "```"])
def test_arguments_that_are_no_object_make_no_other_calls(arguments):
    written = write_calls([ToolCall(id="", name="read", arguments=arguments)])
    assert "\n" not in written
    assert {call.name for call in read_calls(written)} <= {"read"}


@given(st.text(alphabet="LOK read{}`'\"\n>*-():~", max_size=80))
def test_no_text_makes_reading_fail(text):
    for call in read_calls(text):
        assert call.name
        assert call.arguments.startswith("{")


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
