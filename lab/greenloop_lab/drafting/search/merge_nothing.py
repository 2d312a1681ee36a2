"""As `merge`, without putting answers together at all; for comparisons."""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.records.attempt import Attempt, Draft
from greenloop.core.records.problem import Problem
from greenloop_lab.drafting.search.merge import plan_merging


def plan(problem: Problem, attempts: Sequence[Attempt]) -> Sequence[Draft]:
    """The next drafts of `merge` that are left."""
    return plan_merging(problem, attempts, statements=False, question=False)
