"""Messages as providers get them: calls, results, and data that only one of them can read."""

from __future__ import annotations

import json

import pytest

from greenloop.core.records.model import Message, ToolCall, ToolSpec
from greenloop.plugins.remote_models.messages import mark_prefixes, takes_marks, write_messages, write_tools


def call(arguments="{}", **extra):
    return ToolCall(id="a", name="read", arguments=arguments, extra=extra)


def test_a_turn_with_a_call():
    messages = [
        Message(role="user", content="What?"),
        Message(role="assistant", content="", calls=(call('{"p": 1}'),)),
        Message(role="tool", content="def f(): ...", call_id="a"),
    ]
    function = {"name": "read", "arguments": '{"p": 1}'}
    assert write_messages(messages, "openai") == [
        {"role": "user", "content": "What?"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": "a", "content": "def f(): ..."},
    ]


@pytest.mark.parametrize("arguments", ['{"p": 1', "[1]", "text", '"text"'])
def test_arguments_that_are_no_object_become_one(arguments):
    (written,) = write_messages([Message(role="assistant", content="", calls=(call(arguments),))], "openai")
    assert json.loads(written["tool_calls"][0]["function"]["arguments"]) == {"unreadable": arguments}


def test_no_arguments_are_an_empty_object():
    (written,) = write_messages([Message(role="assistant", content="", calls=(call(""),))], "openai")
    assert written["tool_calls"][0]["function"]["arguments"] == "{}"


def test_data_goes_back_to_its_provider_alone():
    fields = {"thought_signature": "s"}
    message = Message(
        role="assistant",
        content="Yes.",
        calls=(call(provider="gemini", provider_specific_fields=fields),),
        extra={"provider": "gemini", "provider_specific_fields": {"thought_signatures": ["s"]}},
    )
    (own,) = write_messages([message], "gemini")
    assert own["provider_specific_fields"] == {"thought_signatures": ["s"]}
    assert own["tool_calls"][0]["provider_specific_fields"] == fields
    assert "provider" not in own
    (other,) = write_messages([message], "openai")
    assert set(other) == {"role", "content", "tool_calls"}
    assert set(other["tool_calls"][0]) == {"id", "type", "function"}
    (refused,) = write_messages([message], "gemini", left_out={"provider_specific_fields"})
    assert "provider_specific_fields" not in refused


def test_without_tools_calls_and_results_are_text():
    messages = [
        Message(role="assistant", content="Look:", calls=(call('{"p": 1}'),)),
        Message(role="tool", content="def f(): ...", call_id="a"),
    ]
    assert write_messages(messages, "openai", left_out={"tools"}) == [
        {"role": "assistant", "content": 'Look:\nCall a: read({"p": 1})'},
        {"role": "user", "content": "Result of a:\ndef f(): ..."},
    ]


def test_tools_are_functions_whose_schemas_may_be_changed():
    schema = {"type": "object", "properties": {"p": {"type": "string"}}, "required": ("p",)}
    (written,) = write_tools([ToolSpec(name="read", description="Reads.", parameters=schema)])
    assert written["function"]["parameters"] == {**schema, "required": ["p"]}
    written["function"]["parameters"]["properties"]["p"]["type"] = "number"
    assert schema["properties"]["p"]["type"] == "string"


@pytest.mark.parametrize(
    ("roles", "marked"),
    [
        ("su", [0]),
        ("u", []),
        ("suau", [0, 1, 3]),
        ("suattatt", [0, 4, 7]),
        ("ssua", [1, 2, 3]),
    ],
)
def test_marks_are_few_and_at_the_ends_of_requests(roles, marked):
    names = {"s": "system", "u": "user", "a": "assistant", "t": "tool"}
    written = [{"role": names[letter], "content": "x"} for letter in roles]
    mark_prefixes(written)
    assert [number for number, each in enumerate(written) if "cache_control" in each] == marked
    assert len(marked) <= 4


@pytest.mark.parametrize(
    ("provider", "model", "marks"),
    [
        ("anthropic", "anthropic/claude-sonnet-4-5", True),
        ("bedrock", "bedrock/anthropic.claude-sonnet-4-5", True),
        ("openrouter", "openrouter/anthropic/claude-sonnet-4.5", True),
        ("openrouter", "openrouter/qwen/qwen3-coder", False),
        ("openai", "openai/claude-behind-a-proxy", False),
        ("gemini", "gemini/gemini-2.5-pro", False),
    ],
)
def test_only_claude_gets_marks(provider, model, marks):
    assert takes_marks(provider, model) is marks
