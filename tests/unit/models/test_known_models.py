"""What is known of a model by its name."""

from __future__ import annotations

import pytest

from greenloop.models.known_models import known_context


@pytest.mark.parametrize("name", ["gpt-4o", "openai/gpt-4o"])
def test_a_model_of_the_table_is_known_with_or_without_its_provider(name):
    assert known_context(name) >= 100_000


@pytest.mark.parametrize("name", ["", "openai/", "openai/nobody-knows-this", "sample_spec"])
def test_others_are_not(name):
    assert known_context(name) == 0
