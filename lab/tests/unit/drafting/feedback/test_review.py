"""Reviews of samples."""

from __future__ import annotations

from critic import Critic
from double_problem import BASELINE, HALF, PROBLEM, make_attempt
from greenloop.core.records.attempt import FeedbackNote
from greenloop_lab.drafting.feedback import review
from greenloop_lab.drafting.search import magicore


async def test_the_reviewer_waits_for_the_last_sample_and_looks_at_the_best():
    samples = [
        BASELINE,
        make_attempt(1, "x + 1"),
        make_attempt(2, HALF),
        make_attempt(3, "x + 3"),
        make_attempt(4, "x + 4"),
    ]
    critic = Critic("Line 2 must multiply.")
    for last in (1, 2, 3, 4):
        assert await review.describe(PROBLEM, samples[:last], critic.tools) == FeedbackNote(text="")
    note = await review.describe(PROBLEM, samples, critic.tools)
    assert (note.fields, note.usage.tokens) == ({"review": "Line 2 must multiply.", "of": 2}, 27)
    assert HALF in critic.asked[0].messages[0].content


async def test_the_reviewer_is_not_asked_when_a_sample_passed():
    samples = [
        BASELINE,
        make_attempt(1, "x + 1"),
        make_attempt(2, "2 * x"),
        make_attempt(3, "x + 3"),
        make_attempt(4, "x + 4"),
    ]
    critic = Critic("Line 2 must multiply.")
    assert await review.describe(PROBLEM, samples, critic.tools) == FeedbackNote(text="")
    assert critic.asked == []


async def test_the_reviewer_judges_anew_what_is_no_worse_and_nothing_else():
    samples = [
        BASELINE,
        make_attempt(1, "x + 1"),
        make_attempt(2, HALF),
        make_attempt(3, "x + 3"),
        make_attempt(4, "x + 4"),
    ]
    critic = Critic("Line 2.")
    assert await review.describe(PROBLEM, [*samples, make_attempt(5, "x + 5 + 6")], critic.tools) == FeedbackNote(
        text=""
    )
    note = await review.describe(PROBLEM, [*samples, make_attempt(5, "4")], critic.tools)
    assert note.fields["of"] == 5


def test_search_and_reviewer_agree_on_the_number_of_samples():
    assert review.SAMPLES == magicore.SAMPLES
