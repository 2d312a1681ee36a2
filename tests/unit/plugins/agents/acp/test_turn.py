"""What a client sees in a turn, and how the turn ends."""

from __future__ import annotations

from dataclasses import replace

import pytest

from acp_turn import RIGHT, FakeClient, ask, found
from conversation_attempts import BLEMISH, LOOKS, look, turn
from greenloop.core.errors import UsageError
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.outcome import StopReason
from greenloop.core.records.verdict import Status, Verdict


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


async def test_a_look_is_a_call_of_a_tool_with_its_result(root, use):
    looks = (*LOOKS, look(path="../secret"), look("fly", result="\n".join(map(str, range(50)))))
    made = (Attempt(number=0, verdict=Verdict(status=Status.FAILED)), turn(1, *looks, blemishes=(BLEMISH,)))
    use(found(attempts=made))
    client = FakeClient()
    await ask(root, client)
    calls = [each for each in client.updates if each.session_update == "tool_call" and each.title != "Refine m.py::f"]
    told = [(each.title, each.kind, each.status) for each in calls[:5]]
    assert told == [
        ("read m.py", "read", "completed"),
        ("search RATES: m.py:3: RATES = {}", "search", "completed"),
        ("run t.py", "execute", "completed"),
        ("read ../secret", "read", "completed"),
        ("fly", "other", "completed"),
    ]
    assert [[place.path for place in each.locations] for each in calls[:5]] == [[str(root / "m.py")], [], [], [], []]
    assert calls[0].content[0].content.text == "m.py, lines 1-2 of 2:\nx"
    assert calls[4].content[0].content.text.endswith("39\n… 10 more lines")
    assert f"Verified.\n- Note: {BLEMISH}\n" in client.said


async def test_the_model_is_named_with_its_kind(root, use):
    use(found())
    client = FakeClient()
    await ask(root, client)
    assert "asking openai/gpt-5.1 (capable); at fault may be: f" in client.reported


async def test_a_run_without_any_suspect_says_where_the_fault_may_be(root, use):
    fake = use(found())
    fake.problem = replace(fake.problem, regions=())
    client = FakeClient()
    await ask(root, client)
    assert "asking openai/gpt-5.1 (capable); at fault may be: what the test reads" in client.reported
