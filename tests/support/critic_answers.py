"""A critic that answers every question alike, and attempts at the function `double`."""

from __future__ import annotations

import random

from double_problem import PROBLEM, failing_verdict, judge_files
from greenloop.core.ports import NoUser, Tools
from greenloop.core.records.attempt import Attempt, Candidate
from greenloop.core.records.model import Reply, Usage

REGION = PROBLEM.regions[0]
BASELINE = Attempt(number=0, verdict=failing_verdict(), error_class="NotImplementedError")


class Critic:
    """Answers every question alike and keeps them."""

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.asked: list = []

    async def ask(self, completion) -> Reply:
        self.asked.append(completion)
        return Reply(text=self.answer, usage=Usage(prompt_tokens=20, completion_tokens=7), model="critic")

    def tools(self) -> Tools:
        return Tools(ask=self.ask, run=None, session=None, user=NoUser(), rng=random.Random(0))


def attempt(number: int, expression: str) -> Attempt:
    text = f"def double(x):\n    return {expression}\n"
    return Attempt(number=number, candidate=Candidate(texts={REGION: text}), verdict=judge_files({"m.py": text}))
