"""Reads the attempts of a run: the best one, and how many the model made."""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.records.attempt import Attempt, Move
from greenloop.core.records.verdict import Status

CHEAP = (Move.INFILL, Move.MUTATE)  # too many and too small to describe one by one


def best_attempt(attempts: Sequence[Attempt]) -> Attempt | None:
    """The attempt with the highest score, fewest newly failing neighbours, earliest; only tested candidates count."""
    tested = [attempt for attempt in attempts if attempt.candidate and attempt.verdict.status is not Status.REFUSED]
    untampered = [attempt for attempt in tested if attempt.verdict.status is not Status.TAMPERED]
    return max(
        untampered,
        key=lambda attempt: (
            attempt.accepted,
            attempt.verdict.status is Status.PASSED,
            attempt.verdict.score,
            -len(attempt.verdict.collateral),
            -attempt.number,
        ),
        default=None,
    )


def count_asked(attempts: Sequence[Attempt]) -> int:
    """Counts the attempts that the model was asked for."""
    return sum(attempt.draft is not None and attempt.draft.move is not Move.MUTATE for attempt in attempts)
