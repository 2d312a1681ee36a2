"""What the docstring itself demands."""

from __future__ import annotations

from dataclasses import replace

import pytest

from critic import Critic
from greenloop.core.election import best_attempt
from greenloop.core.records.verdict import Status
from greenloop.drafting.prompt import assemble
from greenloop.drafting.search import chain
from greenloop_lab.drafting.feedback import requirements
from requirement_checks import BASELINE, described, make_problem, tried
from simulated_run import SimulatedRun

MUSTS = '''def double(x):
    """Twice x.

    The result must be even. It must not be negative and must have the type of x.
    """
    raise NotImplementedError
'''


async def test_a_docstring_with_three_musts_gives_a_checklist_of_three_and_what_is_unmet_is_told_next():
    problem = make_problem(MUSTS)
    items = ("The result must be even", "It must not be negative", "must have the type of x")
    assert requirements.docstring_demands(problem) == items
    critic = Critic("2")
    note = await described(requirements, problem, critic, tried(problem))
    assert "1. The result must be even\n2. It must not be negative\n3. must have the type of x" in critic.texts[-1]
    assert note.fields == {"requirements": items, "unmet": (items[1],)}
    assert note.text.endswith("The docstring demands, and the code does not do:\n- It must not be negative")
    newest = replace(tried(problem), notes=(note,))
    simulated_run = SimulatedRun([], problem=problem, preset="plain")
    (draft,) = chain.plan(problem, [BASELINE, newest])
    messages = assemble(
        simulated_run.parts.calls.prompts, problem, (), [BASELINE, newest], draft, budget=2000, count=len
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
    problem = make_problem(MUSTS)
    note = await described(requirements, problem, Critic(said), tried(problem))
    assert note.fields["unparsable"] == said
    assert "demands" not in note.text


async def test_met_demands_accept_nothing():
    problem = make_problem(MUSTS)
    newest = tried(problem)
    note = await described(requirements, problem, Critic("none"), newest)
    assert (note.score, note.stop) == (None, False)
    top = best_attempt([BASELINE, replace(newest, notes=(note,))])
    assert (top.accepted, top.verdict.status) == (False, Status.FAILED)


async def test_nobody_is_asked_where_nothing_is_demanded_or_nothing_ran():
    assert (await described(requirements, make_problem(), Critic(), tried(make_problem()))).fields == {}
    assert (await described(requirements, make_problem(MUSTS), Critic())).fields.keys() == {"requirements"}
