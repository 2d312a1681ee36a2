"""Samples, then one question about two that pass different tests.

After the merging stage of KompeteAI (arXiv 2508.10177), which combines the best branches of its tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from greenloop.core.election import is_valid, rank
from greenloop.core.records.attempt import Attempt, Draft, Move
from greenloop.core.records.model import Role
from greenloop.core.records.problem import Problem
from greenloop.drafting.search._filling import untried
from greenloop.drafting.search._progress import refine_or_restart
from greenloop_lab.drafting.search._temperatures import sample_temperatures
from greenloop_lab.drafting.shown_parts import name_passed, render_complements

SAMPLES = 4
MERGE = "merge"  # the template that shows both


def plan(problem: Problem, attempts: Sequence[Attempt]) -> Sequence[Draft]:
    """Samples, a question about the best two unless tests have a vote; then refinements of the best."""
    return untried(_rungs(problem, attempts), attempts, SAMPLES) or refine_or_restart(attempts)


def _rungs(problem: Problem, attempts: Sequence[Attempt]) -> Iterator[list[Draft]]:
    yield [
        Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER, temperature=heat) for heat in sample_temperatures(SAMPLES)
    ]
    if not problem.spec.open:
        yield _question(problem, attempts)


def _question(problem: Problem, attempts: Sequence[Attempt]) -> list[Draft]:
    """One request that shows the best attempt, and the one that passes most of what that one fails."""
    valid = sorted(filter(is_valid, attempts[1:]), key=lambda each: (*rank(each), -each.number), reverse=True)
    if not valid:
        return []
    best, *others = valid
    complements = [
        each
        for each in others
        if _passed_cases(each) - _passed_cases(best) and _passed_cases(best) - _passed_cases(each)
    ]
    if not complements:
        return []
    other = max(complements, key=lambda each: len(_passed_cases(each) - _passed_cases(best)))
    hint = f"Your answer passes {name_passed(best)}.\n\n{render_complements(problem, [other])}"
    return [Draft(parent=best.number, move=Move.REFINE, role=Role.REFINER, prompt=MERGE, hint=hint)]


def _passed_cases(attempt: Attempt) -> frozenset[str]:
    return frozenset(case.id for case in attempt.verdict.cases if case.passed)
