"""Who may be accepted after a round: the question that `accept` is asked, one after the other, about those elected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from greenloop.core.compose import compose
from greenloop.core.diff import changed
from greenloop.core.nouns import Attempt, Problem, Status


@dataclass(frozen=True, kw_only=True)
class Election:
    """Who may be accepted: numbers of attempts, best first. What must hold may have become clearer on the way.

    `attempts` are all of them, judged by the problem as it is now.
    """

    problem: Problem
    attempts: Sequence[Attempt]
    order: Sequence[int] = ()


async def nearest(problem: Problem, attempts: Sequence[Attempt], over: bool) -> Election:  # noqa: ARG001
    """Whatever passes may be accepted; of several the one nearest to the user's code comes first."""
    passing = [each for each in attempts if each.candidate and each.verdict.status is Status.PASSED]

    def distance(attempt: Attempt) -> tuple[int, int]:
        assert attempt.candidate is not None
        return changed(problem.files, compose(problem, attempt.candidate)), attempt.number

    return Election(problem=problem, attempts=attempts, order=[each.number for each in sorted(passing, key=distance)])
