"""What single providers refuse, want back, or leave out, over their stand-ins."""

import asyncio
import contextlib
import json
import os
from dataclasses import replace

import pytest

from greenloop.core.errors import ModelError
from greenloop.core.ports import calls_tools
from greenloop.core.records.model import Message, ToolCall
from greenloop.plugins.remote_models import through_litellm
from providers import _server, anthropic, openai
from providers._server import KEY, Answer, Refusal
from providers.talk import ASK, CALL, PROVIDERS, TEXT, THINKING, Provider, Talk, answered, results


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


@contextlib.asynccontextmanager
async def talking(provider, *script, effort="", **options):
    async with _server.serve(provider.make(*script, **options)) as stand_in:
        yield Talk(stand_in, provider, effort)


WITHOUT_TOOLS = {
    "llamacpp": (PROVIDERS["llamacpp"], {"jinja": False}, "tools param requires --jinja flag"),
    "vllm": (PROVIDERS["vllm"], {"chooses": False}, "requires --enable-auto-tool-choice"),
    "ollama": (PROVIDERS["ollama"], {"capabilities": ()}, "does not support tools"),
}


@pytest.mark.parametrize("name", WITHOUT_TOOLS)
async def test_a_server_that_takes_no_tools_answers_without_and_says_so_from_then_on(name):
    provider, options, fault = WITHOUT_TOOLS[name]
    async with talking(provider, Answer(text=TEXT), **options) as chat:
        assert calls_tools(chat.model)
        assert (await chat.ask()).text == TEXT
        assert not calls_tools(chat.model)
        assert (await chat.ask()).text == TEXT
    assert len(chat.stand_in.faults) == 1
    assert fault in chat.stand_in.faults[0]
    assert chat.sleeps == []


@pytest.mark.parametrize("name", WITHOUT_TOOLS)
async def test_where_tools_are_refused_a_conversation_with_calls_goes_on_as_text(name):
    provider, options, _fault = WITHOUT_TOOLS[name]
    call = ToolCall(id="call_1", name="read", arguments='{"path": "m.py"}')
    past = [
        Message(role="assistant", content="I will look.", calls=(call,)),
        Message(role="tool", content="def f(): ...", call_id="call_1"),
    ]
    async with talking(provider, Answer(text=TEXT), **options) as chat:
        assert (await chat.ask(*past)).text == TEXT
    messages = chat.stand_in.requests[-1]["messages"]
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
    assert not any(message.get("tool_calls") for message in messages)
    assert "read" in messages[2]["content"]
    assert "def f(): ..." in messages[3]["content"]


async def test_a_model_that_cannot_think_is_not_asked_to():
    async with talking(PROVIDERS["ollama"], Answer(text=TEXT), effort="low", capabilities=("tools",)) as chat:
        assert (await chat.ask()).text == TEXT
        await chat.ask()
    assert [fault.partition(" ")[2] for fault in chat.stand_in.faults] == ["does not support thinking"]
    assert [bool(request.get("think")) for request in chat.stand_in.requests] == [True, False, False]


async def test_ollamas_factor_is_no_reward_for_repetition():
    async with talking(PROVIDERS["ollama"], Answer(text=TEXT)) as chat:
        await chat.ask(frequency_penalty=0.5)
    assert chat.stand_in.requests[0]["options"]["repeat_penalty"] == 1.25


async def test_a_long_prompt_gets_the_context_that_it_needs():
    async with talking(PROVIDERS["ollama"], Answer(text=TEXT)) as chat:
        await chat.ask()
        await chat.ask(Message(role="user", content="word " * 9000))
        await chat.ask(Message(role="user", content="word " * 9100))
    sizes = [request["options"]["num_ctx"] for request in chat.stand_in.requests]
    assert sizes == [2600 + 2000 + 256, 16384, 16384]


@pytest.mark.parametrize(
    ("name", "asked", "sent"),
    [("vllm", 4090, 4096), ("openai", 50_000, 16_384), ("openai-unknown", 50_000, 16_384)],
)
async def test_a_limit_that_is_too_large_is_lowered(name, asked, sent):
    unknown = Provider(openai.ChatCompletions, "/v1", name="openai/gpt-unheard")
    provider = (PROVIDERS | {"openai-unknown": unknown})[name]
    async with talking(provider, Answer(text=TEXT)) as chat:
        assert (await chat.ask(max_tokens=asked)).text == TEXT
        assert (await chat.ask(max_tokens=asked)).text == TEXT
    limits = [request["max_tokens"] for request in chat.stand_in.requests]
    assert limits[-1] == limits[-2] <= sent
    assert len(chat.stand_in.faults) == (0 if name == "openai" else 1)


# -- thinking ----------------------------------------------------------------------------------------------------


async def test_thinking_in_the_text_is_no_part_of_it():
    written = f"<think>\n{THINKING}\n</think>\n\n{TEXT}"
    async with talking(PROVIDERS["llamacpp"], Answer(text=written, reports=False)) as chat:
        reply = await chat.ask()
    assert reply.text == TEXT == "".join(chat.pieces)
    assert 12 < reply.usage.completion_tokens < 40, "estimated with the thinking, once"


async def test_thinking_that_fills_the_whole_answer_leaves_no_text():
    async with talking(PROVIDERS["llamacpp"], Answer(text=f"<think>\n{THINKING}", end="cut")) as chat:
        reply = await chat.ask()
    assert (reply.text, reply.finish, chat.pieces) == ("", "length", [])


async def test_tokens_that_are_not_reported_are_estimated_with_the_thinking_once():
    texts = [Answer(text=TEXT, reports=False), Answer(text=TEXT, thinking=THINKING, reports=False)]
    async with talking(PROVIDERS["llamacpp"], *texts) as chat:
        plain, thoughtful = await chat.ask(), await chat.ask()
    assert 0 < plain.usage.completion_tokens < thoughtful.usage.completion_tokens < 2.5 * plain.usage.completion_tokens
    assert plain.usage.prompt_tokens == thoughtful.usage.prompt_tokens > 50


async def test_unsigned_thinking_goes_back_with_the_calls_of_its_turn_alone():
    script = [Answer(calls=(CALL,), thinking=THINKING), Answer(text=TEXT, thinking=THINKING), Answer(text=TEXT)]
    async with talking(PROVIDERS["vllm"], *script) as chat:
        first = await chat.ask()
        turn = [answered(first), *results(first, "def f(): ...")]
        second = await chat.ask(*turn)
        await chat.ask(*turn, answered(second), Message(role="user", content="And n.py?"))
    messages = chat.stand_in.requests[-1]["messages"]
    assert [message.get("reasoning_content") for message in messages if message["role"] == "assistant"] == [
        THINKING,
        None,
    ]


ANTHROPIC, SIGNED = PROVIDERS["anthropic"], anthropic.SIGNATURE


async def test_the_effort_leaves_room_for_the_answer():
    async with talking(ANTHROPIC, Answer(text=TEXT), effort="high") as chat:
        for limit in (8000, 3000, 1500, 1000):
            await chat.ask(max_tokens=limit)
    budgets = [request.get("thinking", {}).get("budget_tokens") for request in chat.stand_in.requests]
    assert budgets == [4096, 2048, 1024, None]
    assert chat.stand_in.faults == []


async def test_a_conversation_goes_on_without_the_thinking_that_is_refused():
    script = [Answer(calls=(CALL,), thinking=THINKING), Refusal(kind="changed"), Answer(text=TEXT)]
    async with talking(ANTHROPIC, *script, effort="low") as chat:
        first = await chat.ask()
        assert (await chat.ask(answered(first), *results(first, "def f(): ..."))).text == TEXT
    assert SIGNED in str(chat.stand_in.requests[1])
    assert SIGNED not in str(chat.stand_in.requests[2])
    assert "thinking" not in chat.stand_in.requests[2]


async def test_a_turn_that_cannot_think_any_more_goes_on_without_its_thinking():
    async with talking(ANTHROPIC, Answer(calls=(CALL,), thinking=THINKING), Answer(text=TEXT), effort="low") as chat:
        first = await chat.ask()
        second = await chat.ask(answered(first), *results(first, "def f(): ..."), max_tokens=500)
    assert second.text == TEXT
    assert "is disabled" in chat.stand_in.faults[0]


async def test_data_of_one_provider_goes_to_no_other():
    async with talking(ANTHROPIC, Answer(text="Yes.", calls=(CALL,), thinking=THINKING), effort="low") as chat:
        first = await chat.ask()
    assert first.extra["thinking_blocks"]
    async with talking(PROVIDERS["openai"], Answer(text=TEXT)) as other:
        assert (await other.ask(answered(first), *results(first, "def f(): ..."))).text == TEXT
    assert other.stand_in.faults == []
    assert SIGNED not in json.dumps(other.stand_in.requests)


# -- the cache of a provider -------------------------------------------------------------------------------------


async def test_a_conversation_marks_its_instructions_its_last_request_and_this_one():
    script = [Answer(calls=(CALL, CALL)), Answer(calls=(CALL,)), Answer(text=TEXT)]
    async with talking(ANTHROPIC, *script) as chat:
        said = []
        for _turn in range(2):
            reply = await chat.ask(*said)
            said += [answered(reply), *results(reply, *["def f(): ..."] * len(reply.calls))]
        await chat.ask(*said)
    assert chat.stand_in.faults == []
    marked = [places(request) for request in chat.stand_in.requests]
    assert marked == [["system"], ["system", "0.0", "2.1"], ["system", "2.1", "4.0"]]


def places(request):
    """Where a request has marks: the number of the message, and of the block in it."""
    found = ["system"] if "cache_control" in json.dumps(request["system"]) else []
    for number, message in enumerate(request["messages"]):
        found += [f"{number}.{place}" for place, block in enumerate(message["content"]) if "cache_control" in block]
    return found


@pytest.mark.parametrize("name", sorted(PROVIDERS.keys() - {"anthropic"}))
async def test_nobody_else_gets_marks(name):
    async with talking(PROVIDERS[name], Answer(calls=(CALL,), thinking=THINKING), Answer(text=TEXT)) as chat:
        first = await chat.ask()
        await chat.ask(answered(first), *results(first, "def f(): ..."))
    assert "cache_control" not in json.dumps(chat.stand_in.requests)


# -- errors in the middle ----------------------------------------------------------------------------------------


async def test_an_overload_in_the_middle_of_an_answer_is_waited_for():
    script = [*[Answer(text="It def", end="broken")] * 4, Answer(text=TEXT)]
    async with talking(ANTHROPIC, *script) as chat:
        reply = await chat.ask(patience=600.0)
    assert reply.text == TEXT
    assert len(chat.sleeps) == 4
    async with talking(ANTHROPIC, *script) as chat:
        with pytest.raises(ModelError, match="Overloaded"):
            await chat.ask()


async def test_without_patience_an_overload_is_one_of_the_retries():
    async with talking(ANTHROPIC, Refusal(kind="overload")) as chat:
        with pytest.raises(ModelError, match=r"^anthropic is overloaded: Overloaded\.$"):
            await chat.ask()
    assert len(chat.sleeps) == 2


async def test_requests_at_once_learn_from_one_another():
    async with talking(PROVIDERS["openai-reasoning"], Answer(text=TEXT)) as chat:
        request = replace(ASK, temperature=0.2)
        replies = await asyncio.gather(*[chat.model.complete(request, str) for _number in range(3)])
        assert [reply.text for reply in replies] == [TEXT] * 3
        before = len(chat.stand_in.faults)
        await chat.ask()
    assert len(chat.stand_in.faults) == before <= 6
