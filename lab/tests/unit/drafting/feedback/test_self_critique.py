"""A critique that never sees a result."""

from __future__ import annotations

import pytest

from critic import Critic
from double_problem import BASELINE, HALF, PROBLEM, make_attempt
from greenloop.core.records.attempt import FeedbackNote
from greenloop_lab.drafting.feedback import self_critique


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
    note = await self_critique.describe(PROBLEM, [BASELINE, make_attempt(1, HALF)], Critic(answer).tools)
    assert (note.stop, note.fields) == (stop, fields)


async def test_self_critique_asks_nothing_about_the_users_own_code():
    critic = Critic("- no")
    assert await self_critique.describe(PROBLEM, [BASELINE], critic.tools) == FeedbackNote(text="")
    assert critic.asked == []
