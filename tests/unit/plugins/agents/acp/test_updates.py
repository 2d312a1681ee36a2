"""Updates come in order, and no answer is waited for without end."""

from __future__ import annotations

from acp_turn import WRONG, FakeClient, ask, found


async def test_a_user_who_never_answers_is_not_waited_for_forever(root, use):
    use(found())
    assert await ask(root, FakeClient("never"), patience=0.01) == "end_turn"
    assert (root / "m.py").read_text() == WRONG
