"""Prices of litellm and those of its table are the same; conversations through it are in tests/contract."""

from __future__ import annotations

import pytest

from greenloop.core.records.model import Usage
from greenloop.plugins.remote_models import known_models, through_litellm


@pytest.mark.parametrize("name", ["openai/gpt-4o", "openai/gpt-4o-mini", "openai/gpt-5.1", "openai/o3-mini"])
def test_prices_are_those_of_litellm(name):
    litellm = through_litellm.load()
    counts = litellm.Usage(
        prompt_tokens=1000, completion_tokens=100, total_tokens=1100, prompt_tokens_details={"cached_tokens": 400}
    )
    usage = Usage(prompt_tokens=1000, completion_tokens=100, cached_tokens=400)
    assert known_models.cost(name, usage) == pytest.approx(through_litellm.cost(litellm, name, usage, counts))


def test_an_unknown_price_is_none():
    assert known_models.cost("openai/of-my-own", Usage(prompt_tokens=1)) is None
