"""Samples, then what passes different tests put together: first without a model, then by one question about both.

After the merging stage of KompeteAI (arXiv 2508.10177), which combines the best branches of its tree. A merge of
statements costs test runs alone, so it comes before the question.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from greenloop.core.election import is_valid, rank
from greenloop.core.records.attempt import Attempt, Draft, Move
from greenloop.core.records.model import Role
from greenloop.core.records.problem import Problem
from greenloop.drafting.search._filling import untried
from greenloop.drafting.search._merging import differ, passed_cases, plan_merges
from greenloop.drafting.search._progress import refine_or_restart, sample_temperatures

SAMPLES = 4
MERGE = "merge"  # the template that shows both


def plan(problem: Problem, attempts: Sequence[Attempt]) -> Sequence[Draft]:
    """Samples, merges, a question about the best two; then refinements of the best, each of which is merged too."""
    return plan_merging(problem, attempts)


def plan_merging(
    problem: Problem, attempts: Sequence[Attempt], *, statements: bool = True, question: bool = True
) -> Sequence[Draft]:
    """`statements`: merges without a model; `question`: merges by a model. Both are skipped while tests have a vote."""
    is_certain = not problem.spec.open
    rungs = _rungs(attempts, statements=statements and is_certain, question=question and is_certain)
    # A merge that brought nothing is no failure of the model, and says nothing of its progress.
    answered = [each for each in attempts if each.candidate or not each.draft or each.draft.move is not Move.MERGE]
    return untried(rungs, attempts, SAMPLES) or refine_or_restart(answered)


def _rungs(attempts: Sequence[Attempt], *, statements: bool, question: bool) -> Iterator[list[Draft]]:
    yield [
        Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER, temperature=heat) for heat in sample_temperatures(SAMPLES)
    ]
    if statements:
        yield plan_merges(attempts)
    if question:
        yield _question(attempts)


def _question(attempts: Sequence[Attempt]) -> list[Draft]:
    """One request that shows the best attempt, and the one that passes most of what that one fails."""
    valid = sorted(filter(is_valid, attempts[1:]), key=lambda each: (*rank(each), -each.number), reverse=True)
    if not valid:
        return []
    best, *others = valid
    complements = [each for each in others if differ(best, each)]
    if not complements:
        return []
    other = max(complements, key=lambda each: len(passed_cases(each) - passed_cases(best)))
    return [Draft(parent=best.number, move=Move.REFINE, role=Role.REFINER, others=(other.number,), prompt=MERGE)]
