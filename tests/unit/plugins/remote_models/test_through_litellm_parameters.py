"""The parameters of requests, for models that the table knows and for others."""

from __future__ import annotations

import pytest

from greenloop.core.records.model import ChatRequest, Message, ToolSpec
from greenloop.plugins.remote_models.refusals import Refusals
from greenloop.plugins.remote_models.through_litellm import write_parameters
from greenloop.project.settings import ApiSettings, Settings

READ = ToolSpec(name="read", description="Reads.", parameters={"type": "object", "properties": {}})
ASK = ChatRequest(messages=(Message(role="user", content="What?"),), tools=(READ,), max_tokens=2000)


@pytest.fixture(autouse=True)
def _usual_address(monkeypatch):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_BASE", raising=False)


def written(model, request=ASK, effort="", base="", refusals=None):
    settings = Settings(api=ApiSettings(effort=effort, base=base))
    return write_parameters(request, model, settings, refusals or Refusals())


@pytest.mark.parametrize(
    ("model", "effort"),
    [
        ("openai/gpt-5", "low"),
        ("openai/never-heard-of", "low"),
        ("anthropic/claude-sonnet-4-5", "low"),
        ("openai/gpt-4o", None),
    ],
)
def test_the_effort_is_sent_where_a_model_may_take_one(model, effort):
    assert written(model, effort="low").get("reasoning_effort") == effort
    assert "reasoning_effort" not in written(model)


def test_claude_thinks_at_its_own_temperature():
    assert "temperature" in written("anthropic/claude-sonnet-4-5")
    assert "temperature" not in written("anthropic/claude-sonnet-4-5", effort="low")


def test_a_model_that_decides_itself_gets_the_effort_whole():
    assert written("anthropic/claude-opus-4-6", effort="high")["reasoning_effort"] == "high"
    assert written("anthropic/claude-sonnet-4-5", effort="high")["reasoning_effort"] == "low"


def test_the_table_says_what_a_model_cannot_do():
    assert "tools" not in written("deepseek/deepseek-reasoner")
    assert written("openai/gpt-4o", ChatRequest(messages=ASK.messages, max_tokens=90_000))["max_tokens"] == 16_384


@pytest.mark.parametrize(
    ("model", "base", "tools", "asked"),
    [
        ("openai/gpt-5", "", True, "openai/responses/gpt-5"),
        ("openai/gpt-5", "", False, "openai/gpt-5"),
        ("openai/gpt-5", "http://127.0.0.1:1/v1", True, "openai/gpt-5"),
        ("openai/gpt-4o", "", True, "openai/gpt-4o"),
        ("openai/gpt-5-codex", "", False, "openai/responses/gpt-5-codex"),
        ("openai/responses/anything", "http://127.0.0.1:1/v1", False, "openai/responses/anything"),
        ("anthropic/claude-sonnet-4-5", "", True, "anthropic/claude-sonnet-4-5"),
    ],
)
def test_reasoning_with_tools_goes_back_by_responses(model, base, tools, asked):
    request = ASK if tools else ChatRequest(messages=ASK.messages)
    parameters = written(model, request, base=base)
    assert parameters["model"] == asked
    is_bridged = "/responses/" in asked
    assert parameters.get("store") is (False if is_bridged else None)
    assert ("include" in parameters) is is_bridged


def test_what_was_refused_is_not_sent():
    refusals = Refusals(left_out={"tools", "temperature"}, is_renamed=True, most=500)
    parameters = written("openai/never-heard-of", refusals=refusals)
    assert not {"tools", "temperature", "max_tokens"} & set(parameters)
    assert parameters["max_completion_tokens"] == 500
