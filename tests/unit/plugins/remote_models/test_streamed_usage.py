"""Tokens of an answer, as different providers report them."""

from __future__ import annotations

from types import SimpleNamespace as Counts

import pytest

from greenloop.plugins.remote_models.streamed import read_usage


@pytest.mark.parametrize(
    ("counts", "numbers"),
    [
        (None, (50, 20, 0)),
        (Counts(prompt_tokens=None, completion_tokens=0), (50, 20, 0)),
        (Counts(prompt_tokens=11, completion_tokens=7), (11, 7, 0)),
        (Counts(prompt_tokens=11, completion_tokens=7, prompt_tokens_details=Counts(cached_tokens=8)), (11, 7, 8)),
        (Counts(prompt_tokens=11, completion_tokens=7, cache_read_input_tokens=8), (11, 7, 8)),
        (Counts(prompt_tokens=11, completion_tokens=7, prompt_cache_hit_tokens=8), (11, 7, 8)),
        (  # the thinking is part of the answer
            Counts(prompt_tokens=11, completion_tokens=27, completion_tokens_details=Counts(reasoning_tokens=20)),
            (11, 27, 0),
        ),
        (  # the thinking comes on top
            Counts(prompt_tokens=11, completion_tokens=7, completion_tokens_details=Counts(reasoning_tokens=20)),
            (11, 27, 0),
        ),
    ],
)
def test_reported_tokens_count_and_others_are_estimated(counts, numbers):
    usage = read_usage(counts, prompt_estimate=50, answer_estimate=20)
    assert (usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens) == numbers
