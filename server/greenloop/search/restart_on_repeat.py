"""A chain that steps back: when an attempt fails as its parent did, start anew and hotter, without the failing code.

A small model that is shown its own wrong code copies it; taking the code away breaks the spell.
"""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.classify import signature
from greenloop.core.loop import best
from greenloop.core.nouns import Attempt, Draft, Move, Problem, Role

STEP = 0.4
HOTTEST = 0.8
UNCHANGED = "Unchanged"  # the gate's word for a candidate that equals its parent
PATIENCE = 4  # restarts in a row that brought no better score


def plan(problem: Problem, attempts: Sequence[Attempt]) -> Sequence[Draft]:  # noqa: ARG001
    """Draft, refine the best so far, restart on a repeated failure; stalled after `PATIENCE` restarts without gain."""
    newest = attempts[-1]
    if newest.number == 0:
        return [Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER)]
    if not repeats(attempts):
        top = best(attempts)
        parent = top if top and top.verdict.score > newest.verdict.score else newest
        return [Draft(parent=parent.number, move=Move.REFINE, role=Role.REFINER, temperature=_heat(attempts))]
    restarts = [attempt for attempt in attempts if attempt.draft and attempt.draft.move is Move.RESTART]
    if len(restarts) >= PATIENCE:
        return []
    heat = min(HOTTEST, STEP * (len(restarts) + 1))
    return [Draft(parent=0, move=Move.RESTART, role=Role.DRAFTER, temperature=heat)]


def repeats(attempts: Sequence[Attempt]) -> bool:
    """Did the newest attempt fail just as some earlier one did, or bring its parent's code back unchanged?"""
    newest = _mark(attempts[-1])
    if newest == UNCHANGED:
        return True
    return any(_mark(attempt) == newest for attempt in attempts[:-1])


def _mark(attempt: Attempt) -> str:
    return attempt.error_class if attempt.finding else signature(attempt.verdict)


def _heat(attempts: Sequence[Attempt]) -> float:
    """Refining an attempt that was refined before needs another temperature, or the same answer comes back."""
    refined = sum(bool(attempt.draft and attempt.draft.move is Move.REFINE) for attempt in attempts)
    return min(HOTTEST, STEP * refined)
