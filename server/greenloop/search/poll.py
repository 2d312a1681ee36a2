"""Answers to compare: one greedy, the rest at spread temperatures; nothing is refined while nobody is believed.

For rules that rank candidates and tests by each other (`trust/consistency.py`): what they need is many answers that do
not know of one another.
"""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.nouns import Attempt, Draft, Move, Problem, Role
from greenloop.search._progress import SAMPLED, samples

FIRST = 5


def plan(problem: Problem, attempts: Sequence[Attempt]) -> Sequence[Draft]:  # noqa: ARG001
    """Five at once, then four more from the bare signature, where those did not settle it."""
    asked = sum(attempt.draft is not None for attempt in attempts)
    if not asked:
        return [Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER, temperature=each) for each in samples(FIRST)]
    if asked == FIRST:
        return [Draft(parent=0, move=Move.RESTART, role=Role.DRAFTER, temperature=each) for each in SAMPLED]
    return []
