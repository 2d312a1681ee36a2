"""Compute-matched comparison: the attempts that give one arm as many model calls as another arm made."""

from __future__ import annotations

import statistics
from collections.abc import Collection, Mapping
from typing import Any

from greenloop.bench.results import Key
from greenloop.core.records.outcome import StopReason


def first_limit(calls: Collection[int]) -> int:
    """Attempts for every task-run at the start: the mean number of calls, rounded."""
    return max(1, round(statistics.fmean(calls))) if calls else 1


def next_limits(calls: Collection[int], runs: Mapping[Key, Mapping[str, Any]]) -> dict[Key, int]:
    """Attempts for the task-runs to continue; empty when both arms made the same number of calls or none can continue.

    An arm that stops at its first pass makes fewer calls than it may, so the task-runs that ran out of attempts share
    the rest evenly.
    """
    missing = sum(calls) - sum(run["calls"] for run in runs.values())
    growing = [key for key, run in runs.items() if run["reason"] == StopReason.ATTEMPTS.value]
    if missing <= 0 or not growing:
        return {}
    step, rest = divmod(missing, len(growing))
    extra = {key: step + (n < rest) for n, key in enumerate(growing)}
    return {key: runs[key]["settings"]["attempts"] + each for key, each in extra.items() if each}
