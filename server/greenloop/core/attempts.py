"""Reads the attempts of a run: the best one, and how many the model made."""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.records.attempt import Attempt, Move
from greenloop.core.records.verdict import Status

CHEAP = (Move.INFILL, Move.MUTATE)  # too many and too small to describe one by one


def is_valid(attempt: Attempt) -> bool:
    """Was the attempt's candidate run, and without tampering?"""
    return attempt.candidate is not None and attempt.verdict.status not in (Status.REFUSED, Status.TAMPERED)


def rank(attempt: Attempt) -> tuple[float, int]:
    """Orders attempts by score, then by few newly failing neighbours; attempts without a valid run rank last."""
    return (attempt.verdict.score, -len(attempt.verdict.collateral)) if is_valid(attempt) else (-1.0, 0)


def best_attempt(attempts: Sequence[Attempt]) -> Attempt | None:
    """The attempt with the highest score, fewest newly failing neighbours, earliest; only tested candidates count."""

    def key(attempt: Attempt) -> tuple[bool, bool, tuple[float, int], int]:
        return attempt.accepted, attempt.verdict.status is Status.PASSED, rank(attempt), -attempt.number

    return max(filter(is_valid, attempts), key=key, default=None)


def newest_best(attempts: Sequence[Attempt]) -> Attempt | None:
    """The best attempt so far, the newest of equals: different code that is equally good is a step, not a loss."""
    return max(filter(is_valid, attempts), key=lambda attempt: (rank(attempt), attempt.number), default=None)


def count_asked(attempts: Sequence[Attempt]) -> int:
    """Counts the attempts that the model was asked for."""
    return sum(attempt.draft is not None and attempt.draft.move is not Move.MUTATE for attempt in attempts)
