"""Feedback parts that ask a critic: their prompts, what they make of the answer, what it cost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from critic import COST, Critic
from critique import BASELINE, FAILING, FAILURE, PROBLEM, attempt
from greenloop.core.budget import BudgetExceededError
from greenloop.core.records.attempt import FeedbackNote
from greenloop.core.records.model import Role, Usage
from greenloop.core.records.outcome import StopReason
from greenloop.core.records.verdict import Status, Verdict
from greenloop.drafting.feedback import cases, raw
from greenloop_lab.drafting.feedback import best, bug_taxonomy, explain, reflect, self_critique, summary
from greenloop_sandbox import CaseResult

ASKING = [explain, reflect, summary, bug_taxonomy]


async def test_explanation_first_then_the_fix():
    critic = Critic("It returns n\ninstead of twice n.")
    note = await explain.describe(PROBLEM, [BASELINE, attempt()], critic.tools)
    assert critic.asked[0].role is Role.CRITIC
    assert "return n + 0" in critic.texts[-1]
    assert FAILING in critic.texts[-1]
    assert FAILING in note.text
    assert note.text.endswith("Why it fails: It returns n instead of twice n.")
    assert note.fields["explanation"] == "It returns n instead of twice n."
    assert note.usage == COST


@pytest.mark.parametrize("part", ASKING)
async def test_the_users_own_code_is_described_without_a_model(part):
    note = await part.describe(PROBLEM, [BASELINE], Critic().tools)
    assert "assert f(1) == 2" in note.text
    assert note.usage == Usage()


async def test_self_critique_never_sees_the_tests_outcome():
    critic = Critic(*["It may be wrong.\nconfidence: 0.8"] * 3)
    good = Verdict(status=Status.PASSED, cases=(CaseResult(id="test_m.py::test_one", outcome="passed"),))
    for newest in (
        attempt(),
        attempt(verdict=good, error_class="", group=None),
        attempt(verdict=Verdict(status=Status.TIMEOUT, reason="it did not end"), error_class="Timeout"),
    ):
        note = await self_critique.describe(PROBLEM, [BASELINE, newest], critic.tools)
        assert note.fields["confidence"] == 0.8
        assert note.usage == COST
    assert critic.asked[0] == critic.asked[1] == critic.asked[2]
    assert "Return twice the number." in critic.texts[-1]
    assert "return n + 0" in critic.texts[-1]


@pytest.mark.parametrize("part", [*ASKING, self_critique])
async def test_an_exhausted_budget_passes_through(part):
    with pytest.raises(BudgetExceededError):
        await part.describe(PROBLEM, [BASELINE, attempt()], Critic(BudgetExceededError(StopReason.TOKENS)).tools)


@pytest.mark.parametrize("part", [*ASKING, self_critique, best, raw, cases])
async def test_huge_code_failures_and_answers_are_bounded(part):
    huge = "x" * 10_000_000
    code = "    y = 1\n" * 3_000 + "    return n\n"
    failure = replace(FAILURE, text=huge, message=huge, expected=huge, observed=huge)
    result = CaseResult(id="test_m.py::test_one", outcome="failed", failure=failure)
    verdict = Verdict(status=Status.FAILED, cases=(result,) * 30, reason=huge)
    old = attempt(1, notes=(FeedbackNote(text=huge),), verdict=verdict)
    critic = Critic(huge)
    note = await part.describe(PROBLEM, [BASELINE, old, attempt(2, code=code, verdict=verdict)], critic.tools)
    assert len(note.text) < 150_000
    assert all(len(message.content) < 12_000 for asked in critic.asked for message in asked.messages)


def test_what_asking_cost_is_the_attempts():
    newest = attempt(
        usage=Usage(prompt_tokens=10, cost=0.02), notes=(FeedbackNote(text="", usage=COST), FeedbackNote(text=""))
    )
    assert newest.spent == Usage(prompt_tokens=30, completion_tokens=7, cost=0.03)
