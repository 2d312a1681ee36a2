"""Rungs for several functions that are all to be written: one answer for all, then one after the other.

What an attempt has filled stays: an answer about one function is laid over the others of its parent. Where the tests
stop says which function is next, as in ProjectGen (arXiv 2511.03404).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from greenloop.core.election import best_attempt, is_valid
from greenloop.core.records.attempt import Attempt, Draft, Move
from greenloop.core.records.model import Role
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region
from greenloop.core.records.verdict import CaseResult
from greenloop.core.text.diff import split_lines
from greenloop.drafting.search._progress import SAMPLE_TEMPERATURES

FIRST = 3  # functions that are refined before all are written anew
HOT = 0.7  # temperature of an answer that does not see the code that failed


def filling_rungs(problem: Problem, attempts: Sequence[Attempt]) -> Iterator[list[Draft]]:
    """Rungs that begin with one answer for all functions; each later one starts from the best attempt so far."""
    yield [Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER)]
    base = best_attempt(attempts) or attempts[0]
    order = failing_first(problem, base)
    if base.number and len(problem.spec.cases) > 1:  # a single case is passed too easily
        yield [Draft(parent=base.number, move=Move.MUTATE, role=Role.REFINER)]
    for region in order[:FIRST]:
        yield from _about(region, base)
    yield [Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER, temperature=heat) for heat in SAMPLE_TEMPERATURES]
    yield _merges(attempts)
    for region in order[FIRST:]:
        yield from _about(region, base)


def failing_first(problem: Problem, attempt: Attempt) -> list[Region]:
    """The regions in the order in which to go on: those where most failing cases stop, then as they are called."""
    stops = Counter(region for case in attempt.verdict.cases if not case.passed for region in _stops(problem, case))
    return sorted(problem.regions, key=lambda region: -stops[region])


def _stops(problem: Problem, case: CaseResult) -> list[Region]:
    """The innermost region in which a case failed, else those that its failing statement names."""
    frames = case.failure.frames if case.failure else ()
    for frame in reversed(frames):
        for region in problem.regions:
            if region.path == frame.path and _name(region) == frame.function.rpartition(".")[2]:
                return [region]
    own = next((frame for frame in reversed(frames) if frame.path == case.id.partition("::")[0]), None)
    rows = split_lines(problem.files.get(own.path, "")) if own else []
    statement = rows[own.line - 1] if own and own.line <= len(rows) else ""
    return [region for region in problem.regions if re.search(rf"\b{re.escape(_name(region))}\b", statement)]


def _name(region: Region) -> str:
    return region.qualname.rpartition(".")[2]


def _about(region: Region, base: Attempt) -> Iterator[list[Draft]]:
    """Drafts for one region that keep what the base has for the others."""
    if base.number:
        yield [Draft(parent=base.number, move=Move.REFINE, role=Role.REFINER, regions=(region,))]
    yield [
        Draft(parent=base.number, move=Move.DRAFT, role=Role.DRAFTER, regions=(region,), temperature=heat)
        for heat in ((HOT,) if base.number else (0.0,))
    ]


def _merges(attempts: Sequence[Attempt]) -> list[Draft]:
    """The newest whole answers, each with the earlier ones that pass what it does not."""
    answers = [each for each in attempts[1:] if is_valid(each) and each.draft and each.draft.move is Move.DRAFT]
    passed = {each.number: {case.id for case in each.verdict.cases if case.passed} for each in answers}
    return [
        Draft(parent=newest.number, move=Move.MERGE, role=Role.REFINER, others=others)
        for index, newest in enumerate(answers)
        if (others := tuple(each.number for each in answers[:index] if passed[each.number] - passed[newest.number]))
    ]
