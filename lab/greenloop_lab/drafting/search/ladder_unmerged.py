"""As `ladder`, without putting attempts together that pass different tests; for comparisons."""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.records.attempt import Attempt, Draft
from greenloop.core.records.problem import Problem
from greenloop.core.records.usage import Room
from greenloop.drafting.search import ladder
from greenloop.project.settings import LadderSettings

TRIES_CHANGES = True  # as the ladder


def plan(
    problem: Problem, attempts: Sequence[Attempt], steps: LadderSettings = ladder.STEPS, room: Room = ladder.ROOM
) -> Sequence[Draft]:
    """The next drafts of the first rung that is not exhausted and has other drafts than merges."""
    return ladder.plan_rungs(problem, attempts, steps, room, merging=False)
