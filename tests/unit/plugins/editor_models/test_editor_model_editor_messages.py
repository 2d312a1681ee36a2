"""Requests to the editor's own language model as JSON."""

from __future__ import annotations

import json
from types import MappingProxyType

from greenloop.core.records.model import ChatRequest, Message, ToolCall, ToolSpec
from greenloop.plugins.editor_models.editor_model import limited_calls, request_params

CALL = ToolCall(id="1", name="read", arguments="{}", extra={"signature": "s"})
TALK = (
    Message(role="user", content="Double x."),
    Message(role="assistant", content="", calls=(CALL,), extra={"thinking": "t"}),
    Message(role="tool", content="x + 1", call_id="1"),
)
TOOL = ToolSpec(name="read", description="Reads a file.", parameters=MappingProxyType({"type": "object"}))


def test_calls_and_results_go_with_tools():
    params = request_params(3, ChatRequest(messages=TALK, tools=(TOOL,)))
    assert json.loads(json.dumps(params)) == {
        "id": 3,
        "messages": [
            {"role": "user", "content": "Double x."},
            {"role": "assistant", "content": "", "toolCalls": [{"id": "1", "name": "read", "arguments": "{}"}]},
            {"role": "tool", "content": "x + 1", "toolCallId": "1"},
        ],
        "maxTokens": 1024,
        "temperature": 0.0,
        "tools": [{"name": "read", "description": "Reads a file.", "parameters": {"type": "object"}}],
    }


def test_without_tools_a_conversation_is_text():
    params = request_params(1, ChatRequest(messages=TALK))
    assert params["messages"] == [
        {"role": "user", "content": "Double x."},
        {"role": "assistant", "content": "LOOK read {}"},
        {"role": "user", "content": "x + 1"},
    ]
    assert "tools" not in params


def test_calls_are_kept_up_to_the_limit():
    long = ToolCall(id="2", name="read", arguments="word " * 1000)
    assert limited_calls((CALL, long, CALL), 100) == (CALL,)
    assert limited_calls((CALL, long, CALL), 10_000) == (CALL, long, CALL)
    assert limited_calls((), 0) == ()
