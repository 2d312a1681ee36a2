"""A model whose answers are made up, for parts of feedback that ask one."""

from __future__ import annotations

import random

from greenloop.core.ports import NoUser, Tools
from greenloop.core.records.model import ChatRequest, Reply, Role, Usage

COST = Usage(prompt_tokens=20, completion_tokens=7, cost=0.01)


class Critic:
    """Answers in order, or raises an answer that is an error; keeps what it was asked."""

    def __init__(self, *answers: str | Exception, skip: tuple[str, ...] = ()) -> None:
        self.answers = list(answers)
        self.asked: list[ChatRequest] = []
        options = {"planner.skip": skip}
        self.tools = Tools(
            ask=self.answer, run=None, session=None, user=NoUser(), rng=random.Random(0), options=options
        )

    async def answer(self, request: ChatRequest) -> Reply:
        self.asked.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return Reply(text=answer, usage=COST, model="critic")

    @property
    def roles(self) -> list[Role]:
        return [request.role for request in self.asked]

    @property
    def texts(self) -> list[str]:
        return ["\n".join(message.content for message in request.messages) for request in self.asked]
