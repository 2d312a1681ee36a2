"""A chain that restarts when a failure repeats, at a higher temperature and without the failing code.

A small model that is shown its own wrong code copies it, so the restart hides the code.
"""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.election import is_valid, rank
from greenloop.core.records.attempt import Attempt, Draft, Move
from greenloop.core.records.model import Role
from greenloop.core.records.problem import Problem
from greenloop.drafting.search._progress import HOTTEST, STEP, Progress, progress


def plan(problem: Problem, attempts: Sequence[Attempt]) -> Sequence[Draft]:  # noqa: ARG001
    """A draft, refinements of the best attempt, a restart on a repeated failure; stalled when restarts do not help."""
    newest = attempts[-1]
    if newest.number == 0:
        return [Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER)]
    match progress(attempts):
        case Progress.HOPELESS:
            return []
        case Progress.STUCK:
            temperature = min(HOTTEST, STEP * (_count(attempts, Move.RESTART) + 1))
            return [Draft(parent=0, move=Move.RESTART, role=Role.DRAFTER, temperature=temperature)]
    best = max((attempt for attempt in attempts if is_valid(attempt)), key=rank, default=newest)
    parent = best if rank(best) > rank(newest) else newest
    temperature = min(HOTTEST, STEP * _count(attempts, Move.REFINE))
    return [Draft(parent=parent.number, move=Move.REFINE, role=Role.REFINER, temperature=temperature)]


def _count(attempts: Sequence[Attempt], move: Move) -> int:
    return sum(bool(attempt.draft and attempt.draft.move is move) for attempt in attempts)
