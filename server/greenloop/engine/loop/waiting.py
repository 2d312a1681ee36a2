"""Candidates that wait: in a ranker's order they run up to the first that passes, and the others are given up."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from greenloop.core.records.attempt import Attempt, Finding
from greenloop.core.records.problem import Problem
from greenloop.core.records.verdict import Status
from greenloop.engine.loop.attempt_steps import NOT_RUN, with_finding

Rank = Callable[[Problem, Sequence[Attempt], Sequence[Attempt]], Awaitable[Sequence[Attempt]]]


async def keep_order(
    _problem: Problem, _attempts: Sequence[Attempt], _candidates: Sequence[Attempt]
) -> Sequence[Attempt]:
    """Ranks nothing: all candidates run as they came."""
    return ()


def is_waiting(attempt: Attempt) -> bool:
    """Has it a candidate that is still to be run?"""
    return attempt.candidate is not None and attempt.finding is None and attempt.verdict.status is Status.REFUSED


def give_up(attempt: Attempt) -> Attempt:
    """The attempt, with why its candidate was not run where it was not."""
    message = "Was not run: another candidate passed first, or the time was over."
    return with_finding(attempt, Finding(error_class=NOT_RUN, message=message)) if is_waiting(attempt) else attempt
