"""The provider of a model and the variables of its key, compared with litellm's own answers."""

from __future__ import annotations

import os
import re

import pytest

from greenloop.plugins.remote_models import known_models, through_litellm
from greenloop.plugins.remote_models.known_models import find_provider, key_variables


@pytest.fixture(scope="module")
def library():
    return through_litellm.load()


@pytest.mark.parametrize(
    ("name", "provider"),
    [
        ("openai/gpt-4o", "openai"),
        ("gpt-4o", "openai"),
        ("ft:gpt-4o-2024-08-06:mine", "openai"),
        ("claude-sonnet-4-5", "anthropic"),
        ("claude-newfamily-9", "anthropic"),
        ("anthropic/claude-sonnet-4-5", "anthropic"),
        ("gemini-2.5-pro", "vertex_ai"),
        ("gemini/gemini-2.5-pro", "gemini"),
        ("deepseek-chat", "deepseek"),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "bedrock"),
        ("ollama/qwen3", "ollama"),
        ("openrouter/qwen/qwen3-coder", "openrouter"),
        ("parasail/anything", "parasail"),
        ("gibberish", ""),
        ("Qwen/Qwen3-Coder", ""),
        ("foo/gpt-4o", ""),
        ("", ""),
    ],
)
def test_providers(name, provider):
    assert find_provider(name) == provider


def test_all_providers_of_litellm_are_known(library):
    listed = {str(getattr(each, "value", each)) for each in library.provider_list}
    assert listed <= known_models.providers()


def test_keys_are_in_the_variables_that_litellm_reads(library, monkeypatch):
    for name in [name for name in os.environ if re.search(r"_(KEY|TOKEN|PROJECT|BASE)$", name)]:
        monkeypatch.delenv(name)
    compared = 0
    for provider in sorted(known_models.providers() - {"github_copilot", "chatgpt"}):
        wanted = library.validate_environment(model=f"{provider}/x")["missing_keys"]
        variables = key_variables(provider)
        if wanted and variables:
            assert variables[0] in wanted, provider
            compared += 1
    assert compared > 30


@pytest.mark.usefixtures("without_litellm")
def test_where_litellm_cannot_be_read_those_that_need_it_are_not_known():
    assert known_models.providers() == frozenset(known_models.DIRECT)
