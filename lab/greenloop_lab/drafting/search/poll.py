"""Independent answers to compare: one greedy, the rest at spread temperatures; nothing is refined.

For trust rules that rank candidates and tests by each other (`specs/trust/consistency.py`): they need many answers that
do not influence one another.
"""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.records.attempt import Attempt, Draft, Move
from greenloop.core.records.model import Role
from greenloop.core.records.problem import Problem
from greenloop.drafting.search._progress import SAMPLE_TEMPERATURES
from greenloop_lab.drafting.search._temperatures import sample_temperatures

FIRST = 5


def plan(problem: Problem, attempts: Sequence[Attempt]) -> Sequence[Draft]:  # noqa: ARG001
    """Five drafts at once, then four more from the bare signature where those did not settle it."""
    drafted = sum(attempt.draft is not None for attempt in attempts)
    if not drafted:
        return [
            Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER, temperature=each) for each in sample_temperatures(FIRST)
        ]
    if drafted == FIRST:
        return [Draft(parent=0, move=Move.RESTART, role=Role.DRAFTER, temperature=each) for each in SAMPLE_TEMPERATURES]
    return []
