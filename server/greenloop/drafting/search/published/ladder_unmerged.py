"""As `ladder`, without putting attempts together that pass different tests; for comparisons."""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.records.attempt import Attempt, Draft
from greenloop.core.records.problem import Problem
from greenloop.drafting.search import ladder
from greenloop.project.settings import LadderSettings


def plan(problem: Problem, attempts: Sequence[Attempt], steps: LadderSettings = ladder.STEPS) -> Sequence[Draft]:
    """The next drafts of the first rung that is not exhausted and has other drafts than merges."""
    return ladder.plan_rungs(problem, attempts, steps, merging=False)
