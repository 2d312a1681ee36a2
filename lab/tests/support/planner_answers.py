"""The notes of parts that ask a planner."""

from __future__ import annotations

from dataclasses import replace

from critic import Critic
from double_problem import BASELINE, PROBLEM, make_attempt
from greenloop.core.records.attempt import Attempt, Draft, Move
from greenloop.core.records.model import Role

PLAN = "1. result holds x\n2. result holds twice x\n3. return result"


async def plan_with(part, *answers: str, skip: tuple[str, ...] = ()):
    """The note of a part on the user's own code, and the planner that was asked."""
    planner = Critic(*answers, skip=skip)
    return await part.describe(PROBLEM, [BASELINE], planner.tools), planner


def attempts_with(note, expression: str) -> list[Attempt]:
    """The user's own code with a note, and a failed attempt that keeps to its first plan."""
    hint = note.fields["plans"][0] if note.fields.get("plans") else ""
    draft = Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER, hint=hint)
    return [replace(BASELINE, notes=(note,)), replace(make_attempt(1, expression), draft=draft)]
