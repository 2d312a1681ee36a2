"""A model over the network that is made by its name, with a key that an editor hands over."""

from __future__ import annotations

import os

import openai_api
from greenloop.core.records.model import ChatRequest, Message
from greenloop.plugins.remote_models.providers import remote
from greenloop.project.settings import ApiSettings, Settings
from openai_api import answer

ASK = ChatRequest(messages=(Message(role="user", content="x"),))


async def test_a_key_is_asked_for_once_and_kept_to_itself():
    asked = []

    async def keys(provider, variable):
        asked.append((provider, variable))
        return "sk-handed-over-123"

    async with openai_api.serve() as api:
        api.script = [answer("x"), answer("y")]
        found = remote.create("openai/m", Settings(api=ApiSettings(base=api.base, key="GREENLOOP_TEST_KEY")), keys)
        try:
            for _ in range(2):
                await found.complete(ASK, lambda _piece: None)
        finally:
            await found.close()
    assert asked == [("openai", "GREENLOOP_TEST_KEY")]
    assert {headers["authorization"] for headers in api.headers} == {"Bearer sk-handed-over-123"}
    assert "sk-handed-over-123" not in repr(found) + repr(dict(os.environ))
