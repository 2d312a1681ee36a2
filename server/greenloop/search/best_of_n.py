"""Samples until one passes, without any feedback: what every refinement must be compared with at equal cost."""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.nouns import Attempt, Draft, Move, Problem, Role
from greenloop.search._progress import samples, spread

ROUND = 4


def plan(problem: Problem, attempts: Sequence[Attempt]) -> Sequence[Draft]:  # noqa: ARG001
    """A round of drafts from the user's code at spread temperatures, the very first greedy; only the budget ends it."""
    temperatures = samples(ROUND) if attempts[-1].number == 0 else spread(ROUND)
    return [Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER, temperature=each) for each in temperatures]
