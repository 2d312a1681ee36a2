"""The runner's own words, bounded."""

from __future__ import annotations

from greenloop.core.nouns import Attempt, Problem

LINES = 40  # of one failing case; its end holds the exception
CHARACTERS = 6000  # of one failing case
MOST = 20  # failing cases; the rest are counted


def rendered(problem: Problem, attempt: Attempt) -> str:  # noqa: ARG001 - what every describer is given
    """The text of every failing case, newest frames kept."""
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
