"""Iterative agent decoding: each round sees the best and the worst candidate so far; only gains count.

After "Review, Refine, Repeat" (arXiv 2504.01931): the verifier's score guides the search, here the share of tests
passed. The best is the parent, whose code every prompt shows; the worst is in `Draft.hint`.
"""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.election import is_valid, rank
from greenloop.core.records.attempt import Attempt, Draft, Move
from greenloop.core.records.model import Role
from greenloop.core.records.problem import Problem
from greenloop.drafting.prompt import render_attempts
from greenloop_lab.drafting.search._temperatures import sample_temperatures, spread_temperatures

ROUND = 3
PATIENCE = 2  # rounds without a better score
COMPARE = "compare"  # the template that shows other attempts


def plan(problem: Problem, attempts: Sequence[Attempt]) -> Sequence[Draft]:
    """A round of drafts, then rounds that refine the best candidate; an equal score does not replace it."""
    valid = [attempt for attempt in attempts if is_valid(attempt)]
    if not valid:
        if len(attempts) > PATIENCE * ROUND:
            return []
        temperatures = sample_temperatures(ROUND) if len(attempts) == 1 else spread_temperatures(ROUND)
        return [Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER, temperature=each) for each in temperatures]
    best = max(valid, key=lambda attempt: (rank(attempt), -attempt.number))
    if (len(attempts) - 1 - best.number) // ROUND >= PATIENCE:
        return []
    worst = min(valid, key=lambda attempt: (rank(attempt), attempt.number))
    hint = render_attempts(problem, [worst]) if rank(worst) < rank(best) else ""
    refined = any(attempt.parent == best.number for attempt in attempts)
    return [
        Draft(
            parent=best.number,
            move=Move.REFINE,
            role=Role.REFINER,
            temperature=each,
            hint=hint,
            prompt=COMPARE if hint else "",
        )
        for each in (spread_temperatures(ROUND) if refined else sample_temperatures(ROUND))
    ]
