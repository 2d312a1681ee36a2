"""What a client sees in a turn, and how the turn ends."""

from __future__ import annotations

import pytest

from acp_turn import RIGHT, FakeClient, ask, found
from greenloop.core.errors import UsageError
from greenloop.core.records.outcome import StopReason


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        (StopReason.ATTEMPTS, "max_turn_requests"),
        (StopReason.TOKENS, "max_tokens"),
        (StopReason.CANCELLED, "cancelled"),
        (StopReason.STALLED, "end_turn"),
        (StopReason.SECONDS, "end_turn"),
    ],
)
async def test_an_unsolved_run_says_why_it_stopped(root, use, reason, stop):
    use(found(solved=False, reason=reason, message="Not solved."))
    client = FakeClient()
    assert await ask(root, client) == stop
    assert client.said.endswith("Not solved.\n")
    assert client.asked == []


async def test_what_a_user_can_mend_is_said_with_its_remedy(root, use):
    use(UsageError("'m.py' has no function 'g'.", remedy="Did you mean: m.py::f."))
    client = FakeClient()
    assert await ask(root, client, "fix m.py::g") == "end_turn"
    assert client.said == "'m.py' has no function 'g'. Did you mean: m.py::f."
    assert client.calls("execute") == [("Refine m.py::g", "failed")]


async def test_one_target_of_several_that_cannot_be_refined_does_not_stop_the_others(root, use):
    fake = use(UsageError("No such test."), found())
    client = FakeClient()
    assert await ask(root, client, "fix m.py::g and m.py::f: as said") == "end_turn"
    assert [request.comment for request in fake.requests] == ["as said"] * 2
    plans = [each.entries for each in client.updates if each.session_update == "plan"]
    assert [[entry.status for entry in entries] for entries in plans] == [
        ["in_progress", "pending"],
        ["completed", "in_progress"],
        ["completed", "completed"],
    ]
    assert (root / "m.py").read_text() == RIGHT


async def test_a_prompt_that_asks_for_nothing_is_told_what_can_be_asked(root, use):
    fake = use(found())
    client = FakeClient()
    assert await ask(root, client, "hello") == "end_turn"
    assert client.said.startswith("Name a failing test")
    assert fake.requests == []
