"""As `skeleton`, without what is filled in the question; for comparisons."""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.records.attempt import Attempt, Draft
from greenloop.core.records.problem import Problem
from greenloop_lab.drafting.search.skeleton import plan_filling


def plan(problem: Problem, attempts: Sequence[Attempt]) -> Sequence[Draft]:
    """The next function; where only one is to be written, or they are written, as `ladder`."""
    return plan_filling(problem, attempts, memory=False)
