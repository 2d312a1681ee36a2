"""Reads the numbers of tokens that litellm reports for each provider, or estimates them.

It must not know prices.
"""

from __future__ import annotations

from typing import Any

from greenloop.core.records.usage import Usage


def read_usage(counts: Any, *, prompt_estimate: int, answer_estimate: int) -> Usage:
    """The tokens that the provider reported; estimates where it reported none."""
    answer = _number(counts, "completion_tokens")
    reasoning = _number(getattr(counts, "completion_tokens_details", None), "reasoning_tokens")
    if reasoning > answer:  # a provider that does not count its reasoning as part of the answer
        answer += reasoning
    return Usage(
        prompt_tokens=_number(counts, "prompt_tokens") or prompt_estimate,
        completion_tokens=answer or answer_estimate,
        cached_tokens=_number(getattr(counts, "prompt_tokens_details", None), "cached_tokens")
        or _number(counts, "cache_read_input_tokens")
        or _number(counts, "prompt_cache_hit_tokens"),
        cost=None,
    )


def _number(counts: Any, name: str) -> int:
    number = getattr(counts, name, None)
    return number if isinstance(number, int) else 0
