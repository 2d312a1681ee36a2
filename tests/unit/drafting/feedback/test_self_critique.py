"""A critique that never sees a result."""

from __future__ import annotations

import random

import pytest

from doubling import HALF, PROBLEM, executed, unwritten
from greenloop.core.ports import NoUser, Tools
from greenloop.core.records.attempt import Attempt, Candidate, FeedbackNote
from greenloop.core.records.model import Reply
from greenloop.core.records.usage import Usage
from greenloop.drafting.feedback.published import self_critique

REGION = PROBLEM.regions[0]
BASELINE = Attempt(number=0, verdict=unwritten(), error_class="NotImplementedError")


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
    return Attempt(number=number, candidate=Candidate(texts={REGION: text}), verdict=executed({"m.py": text}))


@pytest.mark.parametrize(
    ("answer", "stop", "fields"),
    [
        ("CORRECT\nconfidence: 0.9", True, {"confidence": 0.9}),
        ("- it forgets zero\nConfidence: 30%", False, {"confidence": 0.3}),
        ("It is not CORRECT.", False, {}),
        ("- a\nconfidence: 7", False, {"confidence": 1.0}),
    ],
)
async def test_self_critique_stops_where_it_finds_nothing(answer, stop, fields):
    note = await self_critique.describe(PROBLEM, [BASELINE, attempt(1, HALF)], Critic(answer).tools())
    assert (note.stop, note.fields) == (stop, fields)


async def test_self_critique_asks_nothing_about_the_users_own_code():
    critic = Critic("- no")
    assert await self_critique.describe(PROBLEM, [BASELINE], critic.tools()) == FeedbackNote(text="")
    assert critic.asked == []
