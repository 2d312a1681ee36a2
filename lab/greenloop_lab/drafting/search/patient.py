"""A chain of refinements that keeps the best attempt and stops early.

Small models get worse when they refine on and on (execution feedback in loops of 1-3B models is net-negative without
early stopping): after `PATIENCE` attempts without a better score the search ends.
"""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.records.attempt import Attempt, Draft, Move
from greenloop.core.records.model import Role
from greenloop.core.records.problem import Problem
from greenloop.drafting.search._progress import count_since_gain
from greenloop_lab.drafting.search._newest_best import newest_best
from greenloop_lab.drafting.search._temperatures import refinement_temperature

PATIENCE = 2


def plan(problem: Problem, attempts: Sequence[Attempt]) -> Sequence[Draft]:  # noqa: ARG001
    """One draft, then refinements of the best attempt (the newest of equals); stalled without progress."""
    newest = attempts[-1]
    if newest.number == 0:
        return [Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER)]
    if count_since_gain(attempts) >= PATIENCE:
        return []
    parent = (newest_best(attempts) or newest).number
    return [
        Draft(parent=parent, move=Move.REFINE, role=Role.REFINER, temperature=refinement_temperature(attempts, parent))
    ]
