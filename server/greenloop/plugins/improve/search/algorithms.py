"""One candidate for each algorithm that a planner named, then refinements of the best with its profile.

After LLM4EFFI (arXiv 2502.18489): algorithms are compared before any of them is written, and correctness is settled by
tests afterwards. The planner is the feedback part `algorithms`; its note on the user's own code has the field that is
read here.
"""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.records.attempt import Attempt, Draft, Move
from greenloop.core.records.model import Role
from greenloop.core.records.problem import Problem
from greenloop.drafting.search._progress import refine_or_restart

LABEL = 40  # characters of a label


def plan(problem: Problem, attempts: Sequence[Attempt]) -> Sequence[Draft]:  # noqa: ARG001
    """A labelled draft for each algorithm, or one draft where none was named; then as `restart_on_repeat`."""
    if attempts[-1].number:
        return refine_or_restart(attempts)
    named = [str(each) for note in attempts[0].notes for each in note.fields.get("algorithms", ())]
    if not named:
        return [Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER)]
    return [
        Draft(
            parent=0,
            move=Move.DRAFT,
            role=Role.DRAFTER,
            hint=each,
            label=each if len(each) <= LABEL else f"{each[: LABEL - 1]}…",
            prompt="algorithm",
        )
        for each in named
    ]
