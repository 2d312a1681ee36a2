"""Summaries of a failure."""

from __future__ import annotations

import pytest

from critique import BASELINE, COST, FAILING, FAILURE, PROBLEM, Critic, attempt, tools
from greenloop.core.errors import ModelError
from greenloop_lab.drafting.feedback import summary


async def test_a_summary_has_a_bounded_number_of_sentences():
    critic = Critic(["One. Two is 1.5 not 2. Three! Four? Five."])
    note = await summary.describe(PROBLEM, [BASELINE, attempt()], tools(critic))
    assert note.text == "One. Two is 1.5 not 2. Three!"
    assert FAILING in critic.prompt
    assert "at most 3 sentences" in critic.prompt
    assert note.usage == COST


@pytest.mark.parametrize("answer", [ModelError("unreachable"), "", "```\n```"])
async def test_a_summary_without_a_model_is_put_together_from_the_cases(answer):
    note = await summary.describe(PROBLEM, [BASELINE, attempt()], tools(Critic([answer])))
    assert note.text == f"5 of 10 tests fail. {' '.join(FAILING.split())}. {' '.join(FAILING.split())}."
    assert note.fields["by"] == "template"


async def test_the_raw_output_stays_in_the_verdict_beside_a_summary():
    newest = attempt()
    note = await summary.describe(PROBLEM, [BASELINE, newest], tools(Critic(["It fails."])))
    assert note.text == "It fails."
    assert newest.verdict.cases[-1].failure.text == FAILURE.text
