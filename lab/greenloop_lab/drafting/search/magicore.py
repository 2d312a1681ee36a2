"""Cheap samples first; only a task that no sample solves gets a reviewer.

After MAgICoRe (arXiv 2409.12147): easy tasks are left to sampling, hard ones go to Solver, Reviewer and Refiner, judged
anew after every round. The share of tests passed replaces its reward model. The reviewer is the feedback part `review`;
the field `of` of its note names the attempt that its `review` is about.
"""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.records.attempt import Attempt, Draft, Move
from greenloop.core.records.model import Role
from greenloop.core.records.problem import Problem
from greenloop.drafting.search._progress import count_since_gain
from greenloop_lab.drafting.search._newest_best import newest_best
from greenloop_lab.drafting.search._temperatures import refinement_temperature, sample_temperatures

SAMPLES = 4
PATIENCE = 3  # refinements without a better score


def plan(problem: Problem, attempts: Sequence[Attempt]) -> Sequence[Draft]:  # noqa: ARG001
    """A round of samples, then reviewed refinements; a refinement replaces its parent unless it is worse."""
    if len(attempts) == 1:
        return [
            Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER, temperature=temperature)
            for temperature in sample_temperatures(SAMPLES)
        ]
    if min(count_since_gain(attempts), len(attempts) - 1 - SAMPLES) >= PATIENCE:
        return []
    parent = (newest_best(attempts) or attempts[-1]).number
    hint = _review(attempts, parent)
    return [
        Draft(
            parent=parent,
            move=Move.REFINE,
            role=Role.REFINER,
            temperature=refinement_temperature(attempts, parent),
            hint=hint,
            prompt="reviewed" if hint else "",
        )
    ]


def _review(attempts: Sequence[Attempt], number: int) -> str:
    """The newest review of an attempt; it may be in the notes of a later one."""
    for attempt in reversed(attempts):
        for note in attempt.notes:
            if note.fields.get("of") == number and note.fields.get("review"):
                return str(note.fields["review"])
    return ""
