"""Renders the test runner's own output, bounded."""

from __future__ import annotations

from greenloop.core.records.attempt import Attempt
from greenloop.core.records.problem import Problem

LINES = 40  # of one failing case; the exception is at the end
CHARACTERS = 6000  # of one failing case
MOST = 20  # failing cases; the rest are counted


def render_output(problem: Problem, attempt: Attempt) -> str:  # noqa: ARG001 - the signature that all describers share
    """The runner's text of every failing case; of a long one the end is kept."""
    verdict = attempt.verdict
    failing = [case for case in (*verdict.cases, *verdict.collateral) if case.failure]
    pieces = [verdict.reason[-CHARACTERS:]] if verdict.reason else []
    for case in failing[:MOST]:
        text = case.failure.text if case.failure else ""
        rows = text[-CHARACTERS:].strip("\n").split("\n")
        pieces.append(f"{case.id}\n" + "\n".join(rows[-LINES:]))
    if len(failing) > MOST:
        pieces.append(f"and {len(failing) - MOST} more failing tests.")
    return "\n\n".join(pieces)
