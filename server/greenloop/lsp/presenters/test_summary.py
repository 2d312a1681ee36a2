"""Summarises a test run in one sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from greenloop.core.records.verdict import CaseResult


def sentence(results: Sequence[CaseResult], broken: Sequence[str], left: int, lost: int, seconds: float) -> str:
    """`3 passed, 1 failed in 0.2 s`."""
    counts = Counter(result.outcome for result in results)
    labels = {"error": "broken", "xfailed": "expected to fail", "xpassed": "passed unexpectedly"}
    order = ("passed", "failed", "error", "skipped", "xfailed", "xpassed")
    parts = [f"{counts[outcome]} {labels.get(outcome, outcome)}" for outcome in order if counts[outcome]]
    if left:
        parts.append(f"{left} not run for want of time")
    if lost:
        parts.append(f"{lost} not run, for pytest ended before")
    text = f"{', '.join(parts) or 'no tests ran'} in {seconds:.1f} s"
    return "; ".join([text, *(f"{file} cannot be collected" for file in broken)])
