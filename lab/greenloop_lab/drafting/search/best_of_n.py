"""Samples until one passes, without feedback: the baseline for every refinement at equal cost."""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.records.attempt import Attempt, Draft, Move
from greenloop.core.records.model import Role
from greenloop.core.records.problem import Problem
from greenloop.drafting.search._progress import SAMPLE_TEMPERATURES


def plan(problem: Problem, attempts: Sequence[Attempt]) -> Sequence[Draft]:  # noqa: ARG001
    """One greedy draft from the user's code, then rounds of samples at spread temperatures; only the budget ends it."""
    temperatures = (0.0,) if attempts[-1].number == 0 else SAMPLE_TEMPERATURES
    return [Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER, temperature=each) for each in temperatures]
