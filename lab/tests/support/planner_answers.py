"""A planner and a critic whose answers are made up, and the note of a part that asks them."""

from __future__ import annotations

import random
from dataclasses import replace

from critic_answers import BASELINE, attempt
from double_problem import PROBLEM
from greenloop.core.ports import NoUser, Tools
from greenloop.core.records.attempt import Attempt, Draft, Move
from greenloop.core.records.model import ChatRequest, Reply, Role, Usage

PLAN = "1. result holds x\n2. result holds twice x\n3. return result"


class Planner:
    """Answers in turn, whoever is asked; keeps the questions."""

    def __init__(self, *answers: str, skip: tuple[str, ...] = ()) -> None:
        self.answers = list(answers)
        self.asked: list[ChatRequest] = []
        self.tools = Tools(
            ask=self.answer, run=None, session=None, user=NoUser(), rng=random.Random(0), options={"planner.skip": skip}
        )

    async def answer(self, request: ChatRequest) -> Reply:
        self.asked.append(request)
        return Reply(text=self.answers.pop(0), usage=Usage(prompt_tokens=20, completion_tokens=7), model="planner")

    @property
    def roles(self) -> list[Role]:
        return [request.role for request in self.asked]

    @property
    def texts(self) -> list[str]:
        return [request.messages[0].content for request in self.asked]


async def plan_with(part, *answers: str, skip: tuple[str, ...] = ()):
    """The note of a part on the user's own code, and the planner that was asked."""
    planner = Planner(*answers, skip=skip)
    return await part.describe(PROBLEM, [BASELINE], planner.tools), planner


def attempts_with(note, expression: str) -> list[Attempt]:
    """The user's own code with a note, and a failed attempt that keeps to its first plan."""
    hint = note.fields["plans"][0] if note.fields.get("plans") else ""
    draft = Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER, hint=hint)
    return [replace(BASELINE, notes=(note,)), replace(attempt(1, expression), draft=draft)]
