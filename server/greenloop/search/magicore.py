"""A gate by difficulty: cheap samples first; only a task that no sample solves gets a reviewer.

MAgICoRe (arXiv 2409.12147): easy tasks are left to sampling, hard ones go to Solver, Reviewer and Refiner, judged anew
after every round. The share of tests passed stands in for its reward model. The reviewer is the feedback part `review`,
whose note says in the field `of` which attempt its `review` is about.
"""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.nouns import Attempt, Draft, Move, Problem, Role
from greenloop.search._progress import heat, leader, samples, stale

SAMPLES = 4
PATIENCE = 3  # refinements without a better score


def plan(problem: Problem, attempts: Sequence[Attempt]) -> Sequence[Draft]:  # noqa: ARG001
    """One round of samples, then reviewed refinements; a refined candidate replaces only what it is no worse than."""
    if len(attempts) == 1:
        return [
            Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER, temperature=temperature)
            for temperature in samples(SAMPLES)
        ]
    if min(stale(attempts), len(attempts) - 1 - SAMPLES) >= PATIENCE:
        return []
    parent = (leader(attempts) or attempts[-1]).number
    hint = _review(attempts, parent)
    return [
        Draft(
            parent=parent,
            move=Move.REFINE,
            role=Role.REFINER,
            temperature=heat(attempts, parent),
            hint=hint,
            prompt="reviewed" if hint else "",
        )
    ]


def _review(attempts: Sequence[Attempt], number: int) -> str:
    """The newest review of an attempt; it may stand in the notes of a later one."""
    for attempt in reversed(attempts):
        for note in attempt.notes:
            if note.fields.get("of") == number and note.fields.get("review"):
                return str(note.fields["review"])
    return ""
