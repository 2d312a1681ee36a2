"""Reviews with fixed fields, comments that ask for something, and what a docstring itself demands."""

from __future__ import annotations

import pytest

from critic import Critic
from double_problem import HALF
from greenloop.drafting.feedback import raw
from greenloop.drafting.prompt import assemble
from greenloop.drafting.search import chain
from greenloop_lab.drafting.feedback import code_review
from requirement_checks import BASELINE, described, make_problem, tried
from simulated_run import SimulatedRun

# -- a review ---------------------------------------------------------------------------------------------------------

REVIEW = "change_type: modify\nlocation: line 3\nsolution: Return twice the number."


async def test_a_review_has_the_type_of_the_change_its_place_and_the_solution():
    problem = make_problem(instruction="A comment asks: use a multiplication")
    critic = Critic(REVIEW)
    note = await described(code_review, problem, critic, tried(problem))
    assert "A comment asks: use a multiplication" in critic.texts[-1]
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
    assert code_review.parse_review(said)["change_type"] == kind


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
    problem = make_problem()
    note = await described(code_review, problem, Critic(said), tried(problem))
    assert note.text == (await described(raw, problem, Critic(), tried(problem))).text
    assert note.fields == {"unparsable": " ".join(said.split())}


# -- a comment ----------------------------------------------------------------------------------------------------------


def test_what_a_comment_asks_for_is_in_the_prompt():
    simulated_run = SimulatedRun(
        [HALF], problem=make_problem(instruction="A comment asks: handle None"), preset="plain", attempts=1
    )
    messages = assemble(
        simulated_run.parts.calls.prompts,
        simulated_run.problem,
        (),
        [BASELINE],
        chain.plan(simulated_run.problem, [BASELINE])[0],
        budget=2000,
        count=len,
    )
    assert "A comment asks: handle None" in messages[1].content
