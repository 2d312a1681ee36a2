"""Says which attempts may be accepted after a round; `accept` is then asked about them one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from greenloop.core.compose import compose
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.problem import Problem
from greenloop.core.records.verdict import Status
from greenloop.core.text.diff import count_changed_lines


@dataclass(frozen=True, kw_only=True)
class Election:
    """Which attempts may be accepted: `order` has their numbers, best first.

    `attempts` are all of them, judged by the spec as it is now: answers of the user may have changed it meanwhile.
    """

    attempts: Sequence[Attempt]
    order: Sequence[int] = ()


async def elect_nearest(problem: Problem, attempts: Sequence[Attempt], is_final: bool) -> Election:  # noqa: ARG001
    """Any attempt that passes may be accepted; of several, the one nearest to the user's code comes first."""
    passing = [attempt for attempt in attempts if attempt.candidate and attempt.verdict.status is Status.PASSED]

    def distance(attempt: Attempt) -> tuple[int, int]:
        assert attempt.candidate is not None
        return count_changed_lines(problem.files, compose(problem, attempt.candidate)), attempt.number

    return Election(attempts=attempts, order=[attempt.number for attempt in sorted(passing, key=distance)])
