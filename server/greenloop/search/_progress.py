"""What strategies share: how attempts compare, when a search is stuck, and how temperatures are spread.

A search is stuck when the newest failure came before (by its normalised signature) more often than its group has
patience for. The answer comes in two steps: first another strategy, then, where new beginnings bring nothing, the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from greenloop.core.classify import mark
from greenloop.core.nouns import Attempt, Group, Move, Status

SAMPLED = (0.6, 0.75, 0.9, 1.0)  # temperatures of samples after a greedy answer
STEP = 0.4  # by which a temperature rises when the same was asked before
HOTTEST = 0.8
COPIES = ("Unchanged", "Repeated")  # the words for a candidate that equals its parent or another earlier one
SWITCHES = 4  # new beginnings without a better score, after which no more is expected

# How often the same failure may come back before another strategy. Refused candidates are told apart by their class
# alone, so two of a kind may be two different slips.
PATIENCE = {Group.SYNTAX: 2, Group.ANSWER: 2}
USUAL = 1


class Progress(StrEnum):
    """What a search should make of its attempts: go on, change its strategy, or end."""

    GOING = "going"
    STUCK = "stuck"
    HOPELESS = "hopeless"


def progress(attempts: Sequence[Attempt]) -> Progress:
    """Judges by the newest attempt's failure, its group's patience, and the restarts since the score last rose."""
    newest = attempts[-1]
    if newest.error_class not in COPIES:
        patience = PATIENCE.get(newest.group, USUAL) if newest.group else USUAL
        if recurrences(attempts) < patience:
            return Progress.GOING
    fruitless = attempts[len(attempts) - stale(attempts) :]
    switches = sum(bool(attempt.draft and attempt.draft.move is Move.RESTART) for attempt in fruitless)
    return Progress.STUCK if switches < SWITCHES else Progress.HOPELESS


def recurrences(attempts: Sequence[Attempt]) -> int:
    """How often the newest attempt's failure came before; the user's own code counts."""
    newest = mark(attempts[-1])
    return sum(mark(attempt) == newest for attempt in attempts[:-1])


def standing(attempt: Attempt) -> tuple[float, int]:
    """Orders attempts by score, then by few newly failing neighbours; what never ran, or cheated, is below all."""
    if not counts(attempt):
        return (-1.0, 0)
    return (attempt.verdict.score, -len(attempt.verdict.collateral))


def counts(attempt: Attempt) -> bool:
    """Is it a candidate that was run, and honestly?"""
    return attempt.candidate is not None and attempt.verdict.status not in (Status.REFUSED, Status.TAMPERED)


def leader(attempts: Sequence[Attempt]) -> Attempt | None:
    """The best candidate so far, the newest of equals: an equally good other code is a step, not a loss."""
    ran = [attempt for attempt in attempts if counts(attempt)]
    return max(ran, key=lambda attempt: (standing(attempt), attempt.number), default=None)


def stale(attempts: Sequence[Attempt]) -> int:
    """How many of the newest attempts brought no better score than what was there before them."""
    top: tuple[float, int] | None = None
    idle = 0
    for attempt in attempts:
        if attempt.number == 0:
            continue
        if top is None or standing(attempt) > top:
            top, idle = standing(attempt), 0
        else:
            idle += 1
    return idle


def heat(attempts: Sequence[Attempt], parent: int) -> float:
    """The temperature for refining a parent once more: asked coldly again, a model gives the same answer again."""
    before = sum(
        bool(attempt.draft and attempt.draft.move is Move.REFINE and attempt.parent == parent) for attempt in attempts
    )
    return min(HOTTEST, STEP * before)


def spread(count: int, low: float = 0.2, high: float = 1.0) -> tuple[float, ...]:
    """`count` temperatures at equal distances from `low` to `high`."""
    if count < 2:
        return (low,) * count
    return tuple(round(low + (high - low) * step / (count - 1), 2) for step in range(count))


def samples(count: int) -> tuple[float, ...]:
    """Temperatures of a first round: one greedy, the rest spread, for a hot round alone would miss the likeliest."""
    return (0.0, *spread(count - 1))
