"""Questions about generated tests are asked as permissions."""

from __future__ import annotations

import pytest

from acp_turn import FakeClient, ask, found
from greenloop.acp import updates as updates_module


@pytest.mark.parametrize(("answer", "chosen"), [("1", "No"), ("0", "Yes"), ("dismissed", None)])
async def test_a_question_about_tests_is_asked_as_a_permission(root, use, answer, chosen):
    fake = use(found(solved=False))
    client = FakeClient(answer)
    await ask(root, client)
    async with updates_module.Updates(client, "s") as told:
        fake.user._updates = told
        assert await fake.user.choose("Is `f(1) == 2` right?", ("Yes", "No", "Not sure")) == chosen
        confirmed = {"Yes": True, "No": False, None: None}[chosen]
        assert await fake.user.confirm("Sure?") is confirmed
    assert [option.name for option in client.asked[0]] == ["Yes", "No", "Not sure"]
    assert len(client.asked) == (1 if chosen is None else 2)
