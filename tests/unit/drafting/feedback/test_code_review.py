"""Reviews with fixed fields, comments that ask for something, and what a docstring itself demands."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from doubling import HALF, PROBLEM, STUB, code, executed
from greenloop.core.attempts import best_attempt
from greenloop.core.docstrings.requirements import list_demands
from greenloop.core.python.stubs import remark_text
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.model import ChatRequest, Reply
from greenloop.core.records.problem import Problem
from greenloop.core.records.usage import Usage
from greenloop.core.records.verdict import Status, Verdict
from greenloop.drafting.candidates import parse_answer
from greenloop.drafting.feedback import raw
from greenloop.drafting.feedback.published import code_review, requirements
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


# -- a review ---------------------------------------------------------------------------------------------------------

REVIEW = "change_type: modify\nlocation: line 3\nsolution: Return twice the number."


async def test_a_review_has_the_type_of_the_change_its_place_and_the_solution():
    problem = about(instruction="A comment asks: use a multiplication")
    critic = Critic([REVIEW])
    note = await described(code_review, problem, critic, tried(problem))
    assert "A comment asks: use a multiplication" in critic.prompt
    assert note.text.endswith("Change type: modify\nLocation: line 3\nSolution: Return twice the number.")
    assert {name: note.fields[name] for name in code_review.FIELDS} == {
        "change_type": "modify",
        "location": "line 3",
        "solution": "Return twice the number.",
    }


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("**Change type:** Addition\n- location: `return x`\n- solution: check for None", "add"),
        ("Change_Type = remove\nLocation = 2\nSolution = the line goes", "delete"),
        ('"change_type": "changes",\n"location": "line 2",\n"solution": "x"', "modify"),
    ],
)
def test_a_review_is_read_in_whatever_dress(said, kind):
    assert code_review.parsed(said)["change_type"] == kind


@pytest.mark.parametrize(
    "said",
    [
        "",
        "Return twice the number.",
        "change_type: modify\nlocation: line 3",
        "change_type: rewrite\nlocation: line 3\nsolution: x",
        "change_type: add, delete or modify\nlocation: line 3\nsolution: x",
    ],
)
async def test_a_review_that_lacks_a_field_is_refused_and_the_runners_words_are_told(said):
    problem = about()
    note = await described(code_review, problem, Critic([said]), tried(problem))
    assert note.text == (await described(raw, problem, Critic([]), tried(problem))).text
    assert note.fields == {"unparsable": " ".join(said.split())}


# -- a comment ----------------------------------------------------------------------------------------------------------


def test_todo_and_review_comments_are_what_is_asked_for():
    text = (
        "def f(x):\n    # TODO: handle None\n    #       and NaN\n    y = x  # review: too slow\n"
        "    # reviewed by me\n    # a note\n    # FIXME(me) use a loop\n    return '# TODO: no comment'\n"
    )
    assert remark_text(text) == "handle None and NaN\ntoo slow reviewed by me a note\nuse a loop"
    assert remark_text("def f(x):\n    # preview: x\n    # reviewing is fun\n    return x\n") == ""


def test_what_a_comment_asks_for_is_in_the_prompt():
    theatre = Theatre([HALF], problem=about(instruction="A comment asks: handle None"), preset="plain", attempts=1)
    messages = assemble(
        theatre.refine_run.calls.prompts,
        theatre.problem,
        (),
        [BASELINE],
        chain.plan(theatre.problem, [BASELINE])[0],
        budget=2000,
        count=len,
    )
    assert "A comment asks: handle None" in messages[1].content


# -- what the docstring demands -------------------------------------------------------------------------------------------


async def test_a_docstring_with_three_musts_gives_a_checklist_of_three_and_what_is_unmet_is_told_next():
    problem = about(MUSTS)
    items = ("The result must be even", "It must not be negative", "must have the type of x")
    assert requirements.demands(problem) == items
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
    assert requirements.parsed(said, items) == tuple(items[index] for index in unmet)


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


def test_sections_and_fields_demand_too_and_examples_do_not():
    assert list_demands(
        "Add.\n\n    :returns: the sum\n    :raises ValueError: if x is negative\n\n    >>> add(1)\n    must\n"
    ) == ("returns the sum", "raises ValueError: if x is negative")
    numpy = "Add.\n\n    Returns\n    -------\n    int\n        The sum.\n\n    Raises\n    ------\n    KeyError\n        If gone.\n"
    assert list_demands(numpy) == ("returns The sum", "raises KeyError: If gone")
    assert len(list_demands("It must. " * 50_000)) == 1
    assert len(list_demands(" ".join(f"It must do {n}." for n in range(99)))) == 12
    assert list_demands("") == ()
