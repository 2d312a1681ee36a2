"""Temperatures of several samples, and of a repeated refinement."""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.records.attempt import Attempt, Move
from greenloop.drafting.search._progress import HOTTEST, STEP


def refinement_temperature(attempts: Sequence[Attempt], parent: int) -> float:
    """The temperature for refining a parent once more: at the same low one a model repeats its answer."""
    refinements = sum(
        bool(attempt.draft and attempt.draft.move is Move.REFINE and attempt.parent == parent) for attempt in attempts
    )
    return min(HOTTEST, STEP * refinements)


def spread_temperatures(count: int) -> tuple[float, ...]:
    """`count` temperatures at equal distances from 0.2 to 1."""
    return tuple(round(0.2 + 0.8 * step / max(count - 1, 1), 2) for step in range(count))


def sample_temperatures(count: int) -> tuple[float, ...]:
    """Temperatures of a first round: one greedy, the rest spread; hot ones alone would miss the likeliest answer."""
    return (0.0, *spread_temperatures(count - 1))
