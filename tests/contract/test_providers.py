"""The rules of a conversation with tools, over stand-ins of the providers that check every request."""

import asyncio
import contextlib
import json
import os
from dataclasses import replace

import pytest

from greenloop.core.errors import ContextTooLongError, ModelError
from greenloop.core.records.model import Message
from greenloop.plugins.remote_models import through_litellm
from providers import _server, openai
from providers._server import KEY, PROMPT, THOUGHT, WRITTEN, Answer, Refusal
from providers.talk import CALL, PROVIDERS, TEXT, THINKING, Talk, answered, results


@pytest.fixture(autouse=True, scope="module")
def imported():
    """The import and the first answer take seconds, which are not those of a test."""
    library = through_litellm.load()
    library.completion(model="openai/m", messages=[{"role": "user", "content": "x"}], mock_response="y", api_key="z")


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name in [name for name in os.environ if name.endswith("_API_KEY") or name.startswith(("OLLAMA", "OPENAI"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("STAND_IN_KEY", KEY)


@pytest.fixture(params=PROVIDERS)
async def provider(request):
    return PROVIDERS[request.param]


@pytest.fixture
async def talk(provider):
    """Begins a conversation with a stand-in that has this script; in the end nothing else may have been refused."""
    talks = []
    async with contextlib.AsyncExitStack() as stack:

        async def begin(*script, effort="", **options):
            stand_in = await stack.enter_async_context(_server.serve(provider.make(*script, **options)))
            talks.append(Talk(stand_in, provider, effort))
            return talks[-1]

        yield begin
    for each in talks:
        faults = each.stand_in.faults
        assert len(faults) == len(each.refuses), faults
        assert all(word in fault for word, fault in zip(each.refuses, faults, strict=True)), faults


async def test_a_plain_answer(talk):
    chat = await talk(Answer(text=TEXT, cached=1024))
    reply = await chat.ask(tools=())
    assert reply.text == TEXT == "".join(chat.pieces)
    assert (reply.finish, reply.calls, dict(reply.extra)) == ("stop", (), {})
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (PROMPT, WRITTEN)
    assert reply.usage.cached_tokens == (1024 if chat.provider.reports_cache else 0)


async def test_a_call_and_its_result(talk):
    script = [Answer(text="I will look.", calls=(CALL,), thinking=THINKING), Answer(text=TEXT)]
    chat = await talk(*script, effort="low")
    first = await chat.ask()
    assert first.text == "I will look." == "".join(chat.pieces)
    assert [(call.name, json.loads(call.arguments)) for call in first.calls] == [CALL]
    assert first.finish == "stop"
    second = await chat.ask(answered(first), *results(first, "def f(): ..."))
    assert second.text == TEXT
    assert "def f(): ..." in str(chat.stand_in.requests[-1])
    assert chat.provider.returned in str(chat.stand_in.requests[-1])
    assert not chat.provider.returned or chat.provider.returned not in str(chat.stand_in.requests[0])


async def test_several_calls_at_once_and_no_text(talk):
    calls = (CALL, ("find", {"path": "ä.py"}), ("find", {"path": "n.py"}), ("list", {}))
    chat = await talk(Answer(calls=calls, thinking=THINKING), Answer(text=TEXT))
    first = await chat.ask()
    assert first.text == ""
    assert [(call.name, json.loads(call.arguments or "{}")) for call in first.calls] == list(calls)
    assert len({call.id for call in first.calls}) == 4
    second = await chat.ask(answered(first), *results(first, "first", '{"second": 2}', "[3]", ""))
    assert second.text == TEXT


async def test_thinking_is_no_part_of_the_answer_and_is_billed_once(talk):
    chat = await talk(Answer(text=TEXT, thinking=THINKING), Answer(text=TEXT), effort="low")
    reply = await chat.ask()
    assert reply.text == TEXT == "".join(chat.pieces)
    assert reply.usage.completion_tokens == WRITTEN + THOUGHT
    again = await chat.ask(answered(reply), Message(role="user", content="And n.py?"))
    assert again.text == TEXT


async def test_an_answer_cut_at_the_limit_says_so(talk):
    chat = await talk(Answer(text="It defines", end="cut"))
    reply = await chat.ask()
    assert (reply.text, reply.finish) == ("It defines", "length")


async def test_an_answer_that_ends_early_is_asked_for_again(talk):
    chat = await talk(Answer(text="It def", end="early"), Answer(text=TEXT))
    reply = await chat.ask()
    assert reply.text == TEXT
    assert len(chat.sleeps) == 1
    assert reply.usage.completion_tokens > WRITTEN
    assert reply.usage.prompt_tokens > PROMPT


async def test_an_answer_that_always_ends_early_is_no_answer(talk):
    chat = await talk(Answer(text="It def", end="early"))
    with pytest.raises(ModelError, match=r"^The connection to .* was lost: .*(ended early|before any terminal event)"):
        await chat.ask()
    assert len(chat.sleeps) == 2


async def test_a_limited_rate_is_waited_for_as_long_as_the_user_has_patience(talk):
    limits = [Refusal(kind="limit", wait=34.5)] * 3
    chat = await talk(*limits, Answer(text=TEXT))
    reply = await chat.ask(patience=600.0)
    assert reply.text == TEXT
    assert len(chat.sleeps) == 3
    if chat.provider.states_wait:
        assert chat.sleeps == [34.5] * 3
        impatient = await talk(*limits)
        with pytest.raises(ModelError, match="limits the rate"):
            await impatient.ask(patience=60.0)
        assert impatient.sleeps == [34.5]


async def test_an_overloaded_provider_is_waited_for(talk):
    chat = await talk(*[Refusal(kind="overload")] * 5, Answer(text=TEXT))
    reply = await chat.ask(patience=600.0)
    assert reply.text == TEXT
    assert len(chat.sleeps) == 5
    assert sum(chat.sleeps) < 60


async def test_a_key_that_expires_is_one_sentence(talk):
    chat = await talk(Answer(text=TEXT), Refusal(kind="key"))
    await chat.ask()
    with pytest.raises(ModelError, match=r"no longer accepts the key for .*, which it accepted before\.$") as caught:
        await chat.ask()
    assert "STAND_IN_KEY" in caught.value.remedy
    assert chat.sleeps == []


async def test_a_prompt_that_is_too_long_is_no_other_error(talk):
    chat = await talk(Refusal(kind="long"))
    with pytest.raises(ContextTooLongError):
        await chat.ask()
    assert len(chat.stand_in.requests) == len(chat.provider.refuses) + 1


async def test_cancelling_closes_the_connection(talk):
    chat = await talk(Answer(text="It def", end="stall"))
    task = asyncio.create_task(chat.ask())
    await chat.stand_in.began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(chat.stand_in.left.wait(), 5)


SAMPLING = {"temperature": 0.2, "stop": ("END",), "frequency_penalty": 0.5, "seed": 4}


async def test_what_a_model_refuses_is_left_out_at_once_and_from_then_on(talk):
    chat = await talk(Answer(text=TEXT), effort="low")
    if isinstance(chat.stand_in, openai.Reasoning):
        chat.refuses = (*chat.refuses, "'stop'", "'frequency_penalty'")
    for _time in range(2):
        await chat.ask(**SAMPLING)
    assert chat.sleeps == []
    assert len(chat.stand_in.requests) == 2 + len(chat.refuses)


async def test_arguments_that_are_no_json_go_back_as_json(talk):
    chat = await talk(Answer(calls=(CALL,), thinking=THINKING), Answer(text=TEXT))
    first = await chat.ask()
    broken = replace(first, calls=(replace(first.calls[0], arguments='{"path": "m.p'),))
    second = await chat.ask(answered(broken), *results(broken, "These arguments cannot be read."))
    assert second.text == TEXT
    assert "m.p" in str(chat.stand_in.requests[-1])
