"""What is known of a model by its name."""

from __future__ import annotations

import pytest

from greenloop.plugins.remote_models import known_models


@pytest.mark.parametrize("name", ["gpt-4o", "openai/gpt-4o", "openai/responses/gpt-4o", "ft:gpt-4o-2024-08-06:mine"])
def test_a_model_of_the_table_is_known_with_or_without_its_provider(name):
    assert known_models.known_context(name) >= 100_000
    assert known_models.known_output(name) == 16_384


@pytest.mark.parametrize("name", ["", "openai/", "openai/nobody-knows-this", "sample_spec"])
def test_others_are_not(name):
    assert known_models.known_context(name) == 0
    assert known_models.known_output(name) == 0


@pytest.mark.parametrize(
    ("name", "refuses_tools", "refuses_effort"),
    [
        ("deepseek/deepseek-reasoner", True, False),
        ("openai/gpt-4o", False, True),
        ("openai/gpt-5", False, False),
        ("ollama/whatever", False, False),
    ],
)
def test_only_what_the_table_denies_is_refused(name, refuses_tools, refuses_effort):
    assert known_models.refuses_tools(name) is refuses_tools
    assert known_models.refuses_effort(name) is refuses_effort


@pytest.mark.usefixtures("without_litellm")
def test_without_a_table_nothing_is_known():
    assert known_models.known_context("gpt-4o") == 0
    assert not known_models.refuses_tools("deepseek/deepseek-reasoner")
