"""Updates come in order, and no answer is waited for without end."""

from __future__ import annotations

from acp_turn import WRONG, FakeClient, ask, found
from greenloop.plugins.agents.acp import updates as updates_module


async def test_a_user_who_never_answers_is_not_waited_for_forever(root, use, monkeypatch):
    monkeypatch.setattr(updates_module, "PERSON", 0.01)
    use(found())
    client = FakeClient("never")
    assert await ask(root, client) == "end_turn"
    assert (root / "m.py").read_text() == WRONG
