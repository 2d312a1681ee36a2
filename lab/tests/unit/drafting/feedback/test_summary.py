"""Summaries of a failure."""

from __future__ import annotations

import pytest

from critic import COST, Critic
from critique import BASELINE, FAILING, FAILURE, PROBLEM, attempt
from greenloop.core.errors import ModelError
from greenloop_lab.drafting.feedback import summary


async def test_a_summary_has_a_bounded_number_of_sentences():
    critic = Critic("One. Two is 1.5 not 2. Three! Four? Five.")
    note = await summary.describe(PROBLEM, [BASELINE, attempt()], critic.tools)
    assert note.text == "One. Two is 1.5 not 2. Three!"
    assert FAILING in critic.texts[-1]
    assert "at most 3 sentences" in critic.texts[-1]
    assert note.usage == COST


@pytest.mark.parametrize("answer", [ModelError("unreachable"), "", "```\n```"])
async def test_a_summary_without_a_model_is_put_together_from_the_cases(answer):
    note = await summary.describe(PROBLEM, [BASELINE, attempt()], Critic(answer).tools)
    assert note.text == f"5 of 10 tests fail. {' '.join(FAILING.split())}. {' '.join(FAILING.split())}."
    assert note.fields["by"] == "template"


async def test_the_raw_output_stays_in_the_verdict_beside_a_summary():
    newest = attempt()
    note = await summary.describe(PROBLEM, [BASELINE, newest], Critic("It fails.").tools)
    assert note.text == "It fails."
    assert newest.verdict.cases[-1].failure.text == FAILURE.text
