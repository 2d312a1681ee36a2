"""What the docstring itself demands."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from doubling import HALF, PROBLEM, STUB, code, executed
from greenloop.core.attempts import best_attempt
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.model import ChatRequest, Reply
from greenloop.core.records.problem import Problem
from greenloop.core.records.usage import Usage
from greenloop.core.records.verdict import Status, Verdict
from greenloop.drafting.candidates import parse_answer
from greenloop.drafting.feedback.published import requirements
from greenloop.drafting.prompt import assemble
from greenloop.drafting.search import chain
from greenloop.engine.attempt_steps import with_verdict
from specifying import tools
from theatre import Theatre

MUSTS = '''def double(x):
    """Twice x.

    The result must be even. It must not be negative and must have the type of x.
    """
    raise NotImplementedError
'''


@dataclass
class Critic:
    answers: list[str]
    asked: list[ChatRequest] = field(default_factory=list)

    async def __call__(self, completion: ChatRequest) -> Reply:
        self.asked.append(completion)
        return Reply(text=self.answers.pop(0), usage=Usage(prompt_tokens=7), model="critic")

    @property
    def prompt(self) -> str:
        return "\n".join(message.content for message in self.asked[-1].messages)


def about(text: str = STUB, **more) -> Problem:
    end = text.count("\n")
    files = {**PROBLEM.files, "m.py": text}
    regions = (replace(PROBLEM.regions[0], end=end),)
    return replace(PROBLEM, files=files, originals=files, regions=regions, **more)


def tried(problem: Problem, expression: str = HALF) -> Attempt:
    candidate = parse_answer.read(code(expression), problem)
    blank = Attempt(number=1, parent=0, candidate=candidate, verdict=Verdict(status=Status.REFUSED))
    return with_verdict(blank, executed({"m.py": f"def double(x):\n    return {expression}\n"}))


BASELINE = Attempt(number=0, verdict=Verdict(status=Status.FAILED))


async def described(part, problem: Problem, critic: Critic, *attempts: Attempt):
    return await part.describe(problem, [BASELINE, *attempts], replace(tools(), ask=critic))


async def test_a_docstring_with_three_musts_gives_a_checklist_of_three_and_what_is_unmet_is_told_next():
    problem = about(MUSTS)
    items = ("The result must be even", "It must not be negative", "must have the type of x")
    assert requirements.docstring_demands(problem) == items
    critic = Critic(["2"])
    note = await described(requirements, problem, critic, tried(problem))
    assert "1. The result must be even\n2. It must not be negative\n3. must have the type of x" in critic.prompt
    assert note.fields == {"requirements": items, "unmet": (items[1],)}
    assert note.text.endswith("The docstring demands, and the code does not do:\n- It must not be negative")
    newest = replace(tried(problem), notes=(note,))
    theatre = Theatre([], problem=problem, preset="plain")
    (draft,) = chain.plan(problem, [BASELINE, newest])
    messages = assemble(
        theatre.refine_run.calls.prompts, problem, (), [BASELINE, newest], draft, budget=2000, count=len
    )
    assert "- It must not be negative" in messages[-1].content


@pytest.mark.parametrize(
    ("said", "unmet"),
    [("none", ()), ("None of these.", ()), ("1, 3", (0, 2)), ("Number 3 is not met.", (2,)), ("3. and 3.", (2,))],
)
def test_the_critic_answers_with_numbers(said, unmet):
    items = ("a", "b", "c")
    assert requirements.parse_unmet(said, items) == tuple(items[index] for index in unmet)


@pytest.mark.parametrize("said", ["", "It is fine.", "9", "none but 9"])
async def test_an_answer_without_numbers_tells_the_failures_alone(said):
    problem = about(MUSTS)
    note = await described(requirements, problem, Critic([said]), tried(problem))
    assert note.fields["unparsable"] == said
    assert "demands" not in note.text


async def test_met_demands_accept_nothing():
    problem = about(MUSTS)
    newest = tried(problem)
    note = await described(requirements, problem, Critic(["none"]), newest)
    assert (note.score, note.stop) == (None, False)
    top = best_attempt([BASELINE, replace(newest, notes=(note,))])
    assert (top.accepted, top.verdict.status) == (False, Status.FAILED)


async def test_nobody_is_asked_where_nothing_is_demanded_or_nothing_ran():
    assert (await described(requirements, about(), Critic([]), tried(about()))).fields == {}
    assert (await described(requirements, about(MUSTS), Critic([]))).fields.keys() == {"requirements"}
