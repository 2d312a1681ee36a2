"""The published loop: one draft, then always a refinement of the newest attempt."""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.records.attempt import Attempt, Draft, Move
from greenloop.core.records.model import Role
from greenloop.core.records.problem import Problem


def plan(problem: Problem, attempts: Sequence[Attempt]) -> Sequence[Draft]:  # noqa: ARG001
    """A draft from the user's code, then a refinement of the newest attempt."""
    newest = attempts[-1]
    if newest.number == 0:
        return [Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER)]
    return [Draft(parent=newest.number, move=Move.REFINE, role=Role.REFINER)]
