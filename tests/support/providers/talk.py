"""Conversations with the stand-ins of providers, as a model of greenloop has them."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from greenloop.core.records.model import ChatRequest, Message, ToolSpec
from greenloop.plugins.remote_models.model import Remote
from greenloop.project.settings import ApiSettings, Settings
from providers import _server, anthropic, compatible, gemini, ollama, openai, responses

READ = ToolSpec(
    name="read",
    description="Reads lines of a file.",
    parameters={
        "type": "object",
        "properties": {"path": {"type": "string"}, "first": {"type": "integer"}},
        "required": ["path"],
        "additionalProperties": False,
    },
)
FIND = replace(READ, name="find", description="Finds a word.")
ASK = ChatRequest(
    messages=(Message(role="system", content="Be brief."), Message(role="user", content="What is in m.py?")),
    tools=(READ, FIND),
    max_tokens=2000,
)
TEXT = "It defines f, which is ä."
CALL = ("read", {"path": "m.py", "first": 3})
THINKING = "The file has to be read first."


@dataclass(frozen=True)
class Provider:
    """A stand-in, the path of its base URL, what this provider says, and what it refuses once of every conversation.

    `returned`: what it gives with an answer that calls tools, and wants back with their results.
    """

    make: type[_server.StandIn]
    path: str = ""
    states_wait: bool = True
    reports_cache: bool = True
    refuses: tuple[str, ...] = ()
    returned: str = ""
    name: str = ""


PROVIDERS = {
    "openai": Provider(openai.ChatCompletions, "/v1"),
    "openai-reasoning": Provider(openai.Reasoning, "/v1", refuses=("'max_tokens'", "'temperature'")),
    "openai-responses": Provider(responses.Responses, "/v1", returned=responses.ENCRYPTED),
    "openai-new-responses": Provider(
        responses.Responses,
        "/v1",
        refuses=("'temperature'",),
        returned=responses.ENCRYPTED,
        name="openai/responses/gpt-next",
    ),
    "anthropic": Provider(anthropic.Messages, returned=anthropic.SIGNATURE),
    "gemini": Provider(gemini.GenerateContent, returned=gemini.SIGNATURE),
    "ollama": Provider(ollama.Chat, states_wait=False, reports_cache=False, returned=THINKING),
    "llamacpp": Provider(compatible.LlamaCpp, "/v1", states_wait=False, returned=THINKING),
    "vllm": Provider(compatible.Vllm, "/v1", states_wait=False, returned=THINKING),
}


class Sleeps(list):
    """The seconds that a model would have slept."""

    async def __call__(self, seconds):
        self.append(seconds)


class Talk:
    """A conversation with a stand-in."""

    def __init__(self, stand_in, provider, effort=""):
        self.stand_in, self.provider = stand_in, provider
        self.sleeps, self.pieces = Sleeps(), []
        self.refuses = provider.refuses
        api = ApiSettings(base=stand_in.base + provider.path, key="STAND_IN_KEY", effort=effort)
        name = provider.name or stand_in.model
        self.model = Remote(name, Settings(api=api), sleep=self.sleeps, rng=random.Random(1))

    async def ask(self, *more, **fields):
        self.pieces.clear()
        request = replace(ASK, messages=(*ASK.messages, *more), **fields)
        return await self.model.complete(request, self.pieces.append)


def answered(reply):
    return Message(role="assistant", content=reply.text, calls=reply.calls, extra=reply.extra)


def results(reply, *texts):
    return [Message(role="tool", content=text, call_id=call.id) for call, text in zip(reply.calls, texts, strict=True)]
