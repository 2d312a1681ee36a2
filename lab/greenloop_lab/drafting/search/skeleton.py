"""Fills a skeleton one function at a time, in the order of the calls, with what is filled in the question (ProjectGen).

Each function is refined while cases fail in it; what is filled stays. `ladder` asks for all functions in one answer
first, and then goes where the cases stop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from greenloop.core.election import is_valid
from greenloop.core.records.attempt import Attempt, Draft, Move
from greenloop.core.records.model import Role
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region
from greenloop.drafting.search import ladder
from greenloop.drafting.search._filling import failing_first, is_further, stopped_in, untried
from greenloop.drafting.search._progress import SAMPLE_TEMPERATURES

TURNS = 2  # refinements of a function before the next one is written
Order = Callable[[Sequence[Region]], Sequence[Region]]


def plan(problem: Problem, attempts: Sequence[Attempt]) -> Sequence[Draft]:
    """The next function; where only one is to be written, or they are written, as `ladder`."""
    return plan_filling(problem, attempts)


def plan_filling(
    problem: Problem, attempts: Sequence[Attempt], *, order: Order = tuple, memory: bool = True
) -> Sequence[Draft]:
    """The next function in this order of the regions; `memory`: its question shows what is filled."""
    if len(problem.regions) == 1 or ladder.is_written(problem):
        return ladder.plan(problem, attempts)
    return untried(_rungs(problem, attempts, order(problem.regions), memory=memory), attempts)


def _rungs(
    problem: Problem, attempts: Sequence[Attempt], order: Sequence[Region], *, memory: bool
) -> Iterator[list[Draft]]:
    base, filled = _base(attempts)
    is_shown = memory and base.number > 0
    for region in stopped_in(problem, base):
        if region in filled and _refinements(attempts, region) < TURNS:
            yield [Draft(parent=base.number, move=Move.REFINE, role=Role.REFINER, regions=(region,))]
    for region in order:
        if region not in filled:
            yield from ([each] for each in _writings(base, region, is_shown=is_shown))
    for region in failing_first(problem, base):
        yield [Draft(parent=base.number, move=Move.REFINE, role=Role.REFINER, regions=(region,))]
        yield from ([each] for each in _writings(base, region, is_shown=is_shown)[1:])


def _writings(base: Attempt, region: Region, *, is_shown: bool) -> list[Draft]:
    return [
        Draft(
            parent=base.number,
            move=Move.DRAFT,
            role=Role.DRAFTER,
            regions=(region,),
            prompt="filled" if is_shown else "",
            temperature=heat,
        )
        for heat in (0.0, *SAMPLE_TEMPERATURES)
    ]


def _base(attempts: Sequence[Attempt]) -> tuple[Attempt, set[Region]]:
    """The attempt to go on from, and what is filled in it: a refinement counts where the cases get further by it."""
    base, filled = attempts[0], set[Region]()
    for attempt in attempts[1:]:
        if is_valid(attempt) and attempt.draft:
            is_new = not filled.issuperset(attempt.draft.regions)
            if is_new or is_further(attempt, base):
                base = attempt
                filled |= {*attempt.draft.regions}
    return base, filled


def _refinements(attempts: Sequence[Attempt], region: Region) -> int:
    return sum(
        bool(each.draft and each.draft.move is Move.REFINE and each.draft.regions == (region,)) for each in attempts
    )
