"""Compute-matched comparison: how many attempts give one arm as many model calls as another one made."""

from __future__ import annotations

import statistics
from collections.abc import Collection, Mapping
from typing import Any

from greenloop.bench.results import Key
from greenloop.core.nouns import StopReason


def first(calls: Collection[int]) -> int:
    """Attempts for every task-run, to begin with: the mean, rounded."""
    return max(1, round(statistics.fmean(calls))) if calls else 1


def more(calls: Collection[int], found: Mapping[Key, Mapping[str, Any]]) -> dict[Key, int]:
    """Attempts for those that are to go on; none when both have made the same number of calls, or nothing can go on.

    An arm that ends with its first pass makes fewer calls than it may: what ran out of attempts gets more, evenly.
    """
    missing = sum(calls) - sum(run["calls"] for run in found.values())
    growing = [key for key, run in found.items() if run["reason"] == StopReason.ATTEMPTS.value]
    if missing <= 0 or not growing:
        return {}
    step, rest = divmod(missing, len(growing))
    extra = {key: step + (n < rest) for n, key in enumerate(growing)}
    return {key: found[key]["settings"]["attempts"] + each for key, each in extra.items() if each}
