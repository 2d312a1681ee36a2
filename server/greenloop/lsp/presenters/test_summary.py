"""Summarises a test run in one sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from greenloop.core.records.verdict import CaseResult


def summary_text(
    results: Sequence[CaseResult], broken: Sequence[str], out_of_time: int, interrupted: int, seconds: float
) -> str:
    """`3 passed, 1 failed in 0.2 s`."""
    counts = Counter(result.outcome for result in results)
    labels = {"error": "with errors", "xfailed": "expected to fail", "xpassed": "passed unexpectedly"}
    order = ("passed", "failed", "error", "skipped", "xfailed", "xpassed")
    parts = [f"{counts[outcome]} {labels.get(outcome, outcome)}" for outcome in order if counts[outcome]]
    if out_of_time:
        parts.append(f"{out_of_time} not run (time limit)")
    if interrupted:
        parts.append(f"{interrupted} not run (pytest ended early)")
    text = f"{', '.join(parts) or 'no tests ran'} in {seconds:.1f} s"
    return "; ".join([text, *(f"{file} cannot be collected" for file in broken)])
