"""A chain that restarts when a failure repeats, at a higher temperature and without the failing code.

A small model that is shown its own wrong code copies it, so the restart hides the code.
"""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.records.attempt import Attempt, Draft, Move
from greenloop.core.records.model import Role
from greenloop.core.records.problem import Problem
from greenloop.drafting.search._progress import refine_or_restart


def plan(problem: Problem, attempts: Sequence[Attempt]) -> Sequence[Draft]:  # noqa: ARG001
    """A draft, refinements of the best attempt, a restart on a repeated failure; stalled when restarts do not help."""
    if attempts[-1].number == 0:
        return [Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER)]
    return refine_or_restart(attempts)
