"""What is noticed about a model before anything runs."""

from __future__ import annotations

import os
import re

import pytest

from greenloop.core.errors import ModelError
from greenloop.plugins.remote_models.checks import check, full_name, missing_key
from greenloop.plugins.remote_models.known_models import ADDRESSES
from greenloop.project.settings import ApiSettings, Settings


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch):
    for name in [name for name in os.environ if re.search(r"_(KEY|TOKEN|PROJECT|CREDENTIALS)$", name)]:
        monkeypatch.delenv(name)
    for name in ADDRESSES:
        monkeypatch.delenv(name, raising=False)


def problem(name, needs_key=True, **api):
    with pytest.raises(ModelError) as caught:
        check(name, Settings(api=ApiSettings(**api)), needs_key=needs_key)
    return f"{caught.value} {caught.value.remedy}"


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("gpt-4o", "OPENAI_API_KEY"),
        ("openai/gpt-4o", "OPENAI_API_KEY"),
        ("openai/gpt-9", "OPENAI_API_KEY"),
        ("openai/gpt-5-ultra", "OPENAI_API_KEY"),
        ("openai/responses/gpt-5-codex", "OPENAI_API_KEY"),
        ("ft:gpt-4o-2024-08-06:mine", "OPENAI_API_KEY"),
        ("claude-sonnet-4-5", "ANTHROPIC_API_KEY"),
        ("claude-newfamily-9", "ANTHROPIC_API_KEY"),
        ("gemini/gemini-2.5-pro", "GEMINI_API_KEY"),
        ("gemini/gemini-9-pro", "GEMINI_API_KEY"),
        ("deepseek/deepseek-chat", "DEEPSEEK_API_KEY"),
        ("together_ai/x", "TOGETHERAI_API_KEY"),
        ("parasail/x", "PARASAIL_API_KEY"),
    ],
)
def test_a_missing_key_is_named_by_its_variable(name, variable, monkeypatch):
    assert f"There is no key for {name}." in problem(name)
    assert f" {variable}," in problem(name)
    check(name, Settings(), needs_key=False)
    monkeypatch.setenv(variable, "sk-something")
    check(name, Settings())


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("gtp-4o", "Name gpt-4o,"),
        ("gpt-9", "Name openai/gpt-9,"),
        ("openia/gpt-4o", "Name openai/gpt-4o,"),
        ("antropic/claude-sonnet-4-5", "Name anthropic/claude-sonnet-4-5,"),
        ("codestral-latest", "Name mistral/codestral-latest,"),
        ("gibberish", "Write it as provider/model"),
        ("Qwen/Qwen3-Coder", "Write it as provider/model"),
        ("openai/gpt-4oo", "Name gpt-4o."),
        ("claude-sonet-4-5", "Name claude-sonnet-4-5."),
        ("gemini/gemni-2.5-pro", "Name gemini/gemini-2.5-pro."),
    ],
)
def test_for_an_unknown_name_the_nearest_is_named(name, meant):
    assert meant in problem(name)
    assert meant in problem(name, needs_key=False)


def test_a_bare_name_of_gemini_is_that_of_vertex(monkeypatch):
    assert "gemini/gemini-2.5-pro" in problem("gemini-2.5-pro")
    monkeypatch.setenv("VERTEXAI_PROJECT", "mine")
    check("gemini-2.5-pro", Settings())


@pytest.mark.parametrize("name", ["ollama/anything", "azure/my-deployment", "bedrock/anthropic.claude-v2"])
def test_where_no_single_key_is_known_none_is_missing(name):
    check(name, Settings())


@pytest.mark.parametrize("name", ["openai/m", "gpt-4oo", "Qwen/Qwen3-Coder", "gibberish"])
def test_a_server_of_the_users_own_has_any_name_and_no_key(name):
    check(name, Settings(api=ApiSettings(base="http://127.0.0.1:1/v1")))


def test_another_server_by_openais_own_variable_has_any_name(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-something")
    assert "Name gpt-4o." in problem("openai/gpt-4oo")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    check("openai/gpt-4oo", Settings())


def test_a_variable_that_is_named_has_to_be_set(monkeypatch):
    assert "NO_SUCH_KEY" in problem("openai/gpt-4o", key="NO_SUCH_KEY")
    assert "NO_SUCH_KEY" in problem("openai/m", key="NO_SUCH_KEY", base="http://127.0.0.1:1/v1")
    check("openai/gpt-4o", Settings(api=ApiSettings(key="NO_SUCH_KEY")), needs_key=False)
    monkeypatch.setenv("NO_SUCH_KEY", "sk-something")
    check("openai/gpt-4o", Settings(api=ApiSettings(key="NO_SUCH_KEY")))


@pytest.mark.parametrize(
    ("name", "base", "is_asked"),
    [
        ("openai/gpt-4o", "", True),
        ("gpt-5.1", "", True),
        ("o3-mini", "", True),
        ("ollama/qwen", "", True),
        ("ollama_chat/qwen", "", True),
        ("hosted_vllm/m", "", True),
        ("anything/at-all", "http://127.0.0.1:1/v1", True),
        ("anthropic/claude-sonnet-4-5", "", False),
        ("gemini/gemini-2.5-pro", "", False),
        ("bedrock/x", "", False),
        ("claude-sonnet-4-5", "", False),
        ("openai/responses/o1-pro", "", False),
    ],
)
def test_without_litellm_a_model_that_needs_it_is_refused_with_the_command(without_litellm, name, base, is_asked):
    settings = Settings(api=ApiSettings(base=base))
    if is_asked:
        check(name, settings, needs_key=False)
    else:
        with pytest.raises(ModelError, match="asked through litellm, which is not installed") as caught:
            check(name, settings, needs_key=False)
        assert "pip install litellm==" in caught.value.remedy


def test_without_litellm_a_limit_on_costs_is_refused_where_it_could_not_be_kept(without_litellm, monkeypatch):
    settings = Settings(cost=0.5)
    with pytest.raises(ModelError, match="`cost` cannot limit openai/gpt-4o") as caught:
        check("openai/gpt-4o", settings, needs_key=False)
    assert "pip install litellm==" in caught.value.remedy
    check("ollama/qwen", settings)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    check("openai/m", settings, needs_key=False)


def test_which_key_is_missing(monkeypatch):
    assert missing_key("gpt-4o", ApiSettings()) == ("openai", "OPENAI_API_KEY")
    assert missing_key("gpt-4o", ApiSettings(key="MINE")) == ("openai", "MINE")
    assert missing_key("gpt-4o", ApiSettings(base="http://127.0.0.1:1/v1")) == ("", "")
    monkeypatch.setenv("MINE", "sk-something")
    assert missing_key("gpt-4o", ApiSettings(key="MINE")) == ("", "")
    monkeypatch.setenv("GOOGLE_API_KEY", "AIza-something")
    assert missing_key("gemini/gemini-2.5-pro", ApiSettings()) == ("", "")


@pytest.mark.parametrize(
    ("name", "base", "full"),
    [
        ("gpt-4o", "", "openai/gpt-4o"),
        ("deepseek-chat", "", "deepseek/deepseek-chat"),
        ("gemini-2.5-pro", "", "vertex_ai/gemini-2.5-pro"),
        ("openai/m", "", "openai/m"),
        ("gibberish", "", "gibberish"),
        ("Qwen/Qwen3-Coder", "http://127.0.0.1:1/v1", "openai/Qwen/Qwen3-Coder"),
        ("claude-sonnet-4-5", "http://127.0.0.1:1", "anthropic/claude-sonnet-4-5"),
    ],
)
def test_full_names(name, base, full):
    assert full_name(name, ApiSettings(base=base)) == full
