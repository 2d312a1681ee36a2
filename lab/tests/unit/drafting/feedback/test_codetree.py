"""What thinker, critic and reviewer are asked, and what is read from their answers."""

from __future__ import annotations

import pytest

from critic import Critic
from double_problem import BASELINE, HALF, PROBLEM, make_attempt
from greenloop.core.records.attempt import Attempt, FeedbackNote, Finding
from greenloop.core.records.model import Role
from greenloop.core.records.verdict import Status, Verdict
from greenloop_lab.drafting.feedback import codetree


async def test_the_thinker_names_strategies_for_the_users_code():
    critic = Critic("Sure:\n1. add x to itself\n2) multiply\n- multiply\n* shift\n- a fourth")
    note = await codetree.describe(PROBLEM, [BASELINE], critic.tools)
    assert note.fields == {"strategies": ("add x to itself", "multiply", "shift")}
    assert (note.text, note.usage.tokens) == ("", 27)
    assert critic.asked[0].role is Role.PLANNER
    assert "def double" in critic.asked[0].messages[0].content


async def test_the_critic_sees_code_and_failures_of_an_attempt():
    critic = Critic("score: 3/5\ndecision: Promising.\n- multiply instead")
    note = await codetree.describe(PROBLEM, [BASELINE, make_attempt(1, HALF)], critic.tools)
    assert note.fields == {"score": 3.0, "approve": True, "reflections": ("multiply instead",)}
    (asked,) = critic.asked
    assert asked.role is Role.CRITIC
    assert HALF in asked.messages[0].content
    assert "double(5) == 10" in asked.messages[0].content


@pytest.mark.parametrize(
    ("answer", "fields"),
    [
        ("**Score:** 4\n**Decision:** give up", {"score": 4.0, "reject": True, "reflections": ()}),
        ("Score: 90%\ndecision: go on\n- a\n- b\n- c", {"score": 4.5, "reflections": ("a", "b")}),
        ("score: 11", {"score": 5.0, "reflections": ()}),
        ("I like it.", {"reflections": ()}),
        ("score: high\ndecision:", {"reflections": ()}),
        ("", {"reflections": ()}),
    ],
)
def test_opinions_of_any_form(answer, fields):
    assert codetree.parse_opinion(answer) == fields


async def test_an_answer_that_was_not_run_costs_no_opinion():
    refused = Attempt(
        number=1,
        verdict=Verdict(status=Status.REFUSED),
        finding=Finding(error_class="NoCode", message="No code."),
    )
    critic = Critic("score: 1")
    note = await codetree.describe(PROBLEM, [BASELINE, refused], critic.tools)
    assert (critic.asked, note) == ([], FeedbackNote(text=""))


async def test_a_huge_answer_is_read_quickly_and_bounded():
    fields = codetree.parse_opinion("- " + "x" * 1_000_000 + "\n" + "- y\n" * 100_000 + "score: " + "1" * 100_000)
    assert [len(each) for each in fields["reflections"]] == [200, 1]
