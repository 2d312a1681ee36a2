"""plugins/remote_models/model against a server that streams, refuses, stalls and hangs up."""

import asyncio
import os
import random
import socket
from dataclasses import replace

import pytest

import openai_api
from greenloop.core.errors import ContextTooLongError, ModelError
from greenloop.core.ports import slots
from greenloop.core.records.model import ChatRequest, Message
from greenloop.plugins.remote_models import through_litellm
from greenloop.plugins.remote_models.model import Remote
from greenloop.project.settings import ApiSettings, Settings
from openai_api import answer, hang_up, refuse, stall

KEY = "test-key-0123456789"
ASK = ChatRequest(messages=(Message(role="system", content="Be brief."), Message(role="user", content="x" * 70)))


@pytest.fixture(autouse=True, scope="module")
def imported():
    """The import and the first answer take seconds, which are not those of a test."""
    library = through_litellm.load()
    library.completion(model="openai/m", messages=[{"role": "user", "content": "x"}], mock_response="y", api_key="z")


@pytest.fixture
async def api():
    async with openai_api.serve() as server:
        yield server


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name in [name for name in os.environ if name.endswith("_API_KEY") or name.startswith("OLLAMA")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("MY_KEY", KEY)


class Sleeps(list):
    async def __call__(self, seconds):
        self.append(seconds)


def model(base, name="openai/m", key="MY_KEY", sleep=None, **api):
    settings = Settings(api=ApiSettings(base=base, key=key, **api))
    return Remote(name, settings, sleep=Sleeps() if sleep is None else sleep, rng=random.Random(1))


async def complete(a_model, request=ASK):
    pieces = []
    try:
        return await a_model.complete(request, pieces.append), pieces
    finally:
        await a_model.close()


async def test_an_answer_is_streamed_and_counted(api):
    api.script = [answer("def f():\n", "    return 1\n", finish="length")]
    request = ChatRequest(messages=ASK.messages, temperature=0.5, max_tokens=99, seed=4, stop=("END",))
    reply, pieces = await complete(model(api.base), request)
    assert reply.text == "def f():\n    return 1\n" == "".join(pieces)
    assert len(pieces) == 2
    assert reply.finish == "length"
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (11, 7)
    assert reply.usage.cost is None, "nobody knows what this model costs"
    assert reply.usage.model_seconds > 0
    sent = api.requests[0]
    assert [message["content"] for message in sent["messages"]] == ["Be brief.", "x" * 70]
    assert (sent["model"], sent["temperature"], sent["max_tokens"], sent["seed"]) == ("m", 0.5, 99, 4)
    assert sent["stop"] == ["END"]
    assert api.headers[0]["authorization"] == f"Bearer {KEY}"


async def test_closing_one_leaves_the_others_alone(api):
    api.script = [answer("ok")]
    first, second = model(api.base), model(api.base)
    await complete(first)
    await second.complete(ASK, str)
    await first.close()
    assert (await second.complete(ASK, str)).text == "ok"


async def test_a_known_model_has_its_price_and_missing_usage_is_estimated(api):
    api.script = [answer("x" * 35, usage=None)]
    reply, _ = await complete(model(api.base, "openai/gpt-4o"))
    assert reply.usage.completion_tokens > 0
    assert reply.usage.prompt_tokens > 0
    assert reply.usage.cost is not None
    assert 0 < reply.usage.cost < 0.01


async def test_a_server_at_home_needs_no_key(api):
    api.script = [answer("ok")]
    reply, _ = await complete(model(api.base, key=""))
    assert reply.text == "ok"


async def test_a_limited_rate_is_waited_for_as_long_as_asked(api):
    api.script = [refuse(429, "Rate limit reached", "Retry-After: 7"), answer("ok")]
    sleeps = Sleeps()
    reply, _ = await complete(model(api.base, sleep=sleeps))
    assert reply.text == "ok"
    assert sleeps == [7.0]


async def test_a_longer_pause_than_anybody_waits_is_told(api):
    api.script = [refuse(429, "Rate limit reached", "Retry-After: 3600")]
    with pytest.raises(ModelError, match="limits the rate") as caught:
        await complete(model(api.base))
    assert "in 3600 seconds" in caught.value.remedy
    assert len(api.requests) == 1


async def test_server_errors_are_repeated_so_often_and_no_more(api):
    api.script = [refuse(500, "Internal trouble")]
    sleeps = Sleeps()
    with pytest.raises(ModelError, match=r"returned an error \(500\): Internal trouble|returned an error \(500\)"):
        await complete(model(api.base, sleep=sleeps))
    assert len(api.requests) == 3
    assert len(sleeps) == 2
    assert 0.25 <= sleeps[0] <= 0.75
    assert 0.5 <= sleeps[1] <= 1.5


async def test_the_third_time_may_work(api):
    api.script = [refuse(503, "Overloaded"), hang_up(), answer("ok")]
    reply, _ = await complete(model(api.base))
    assert reply.text == "ok"


async def test_what_a_broken_answer_cost_is_counted(api):
    api.script = [hang_up("y" * 35), answer("ok")]  # 35 letters in a row have 6 tokens
    reply, pieces = await complete(model(api.base))
    assert reply.text == "ok"
    assert "".join(pieces) == "y" * 35 + "ok"
    assert reply.usage.completion_tokens == 6 + 7
    assert reply.usage.prompt_tokens > 11


@pytest.mark.parametrize(
    ("behaviour", "kind", "sentence", "remedy"),
    [
        (refuse(401, f"Incorrect API key provided: {KEY}"), ModelError, "did not accept the key", "MY_KEY"),
        (refuse(403, "Forbidden"), ModelError, "did not accept the key", "MY_KEY"),
        (refuse(404, "The model `m` does not exist"), ModelError, "does not know the model", "spelling"),
        (
            refuse(429, "You exceeded your current quota", code="insufficient_quota"),
            ModelError,
            "quota for openai/m is used up",
            "account",
        ),
        (
            refuse(400, "This model's maximum context length is 4096 tokens", code="context_length_exceeded"),
            ContextTooLongError,
            "too long for the context",
            "prompt.tokens",
        ),
        (
            refuse(400, "request (6030 tokens) exceeds the available context size (4096 tokens)"),
            ContextTooLongError,
            "too long for the context",
            "prompt.tokens",
        ),
        (
            refuse(400, "temperature is a bad thing"),
            ModelError,
            "rejected the request: temperature is a bad",
            "api.base",
        ),
    ],
)
async def test_a_refusal_is_one_sentence_without_the_key_and_is_not_repeated(
    api, capfd, behaviour, kind, sentence, remedy
):
    api.script = [behaviour]
    with pytest.raises(ModelError, match=sentence) as caught:
        await complete(model(api.base))
    assert type(caught.value) is kind
    assert remedy in caught.value.remedy
    assert len(api.requests) == 1
    assert KEY not in str(caught.value) + caught.value.remedy
    assert "\n" not in str(caught.value)
    assert capfd.readouterr().out == ""


async def test_keys_never_stand_in_a_sentence(api, monkeypatch):
    monkeypatch.setenv("OTHER_API_KEY", "other-secret-value")
    api.script = [refuse(400, f"strange: {KEY} other-secret-value sk-live-abcdef123456")]
    with pytest.raises(ModelError, match="strange") as caught:
        await complete(model(api.base))
    for secret in (KEY, "other-secret-value", "abcdef123456"):
        assert secret not in str(caught.value)


async def test_nobody_there():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        base = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    sleeps = Sleeps()
    with pytest.raises(ModelError, match="cannot be reached at http") as caught:
        await complete(model(base, sleep=sleeps))
    assert "api.base" in caught.value.remedy
    assert len(sleeps) == 2, "it may just be starting"
    with pytest.raises(ModelError, match="No Ollama answers") as caught:
        await complete(model(base.removesuffix("/v1"), "ollama/llama3.2", key=""))
    assert "ollama serve" in caught.value.remedy


async def test_an_unknown_provider_is_told_how_to_write_it():
    with pytest.raises(ModelError, match="No provider is known for the model 'gibberish'") as caught:
        await complete(model("", "gibberish", key=""))
    assert "provider/model" in caught.value.remedy


@pytest.mark.parametrize("name", ["openai/gpt-4o", "anthropic/claude-3-haiku-20240307", "gemini/gemini-2.0-flash"])
async def test_a_provider_without_a_key_is_not_asked_twice(name):
    sleeps = Sleeps()
    with pytest.raises(ModelError, match="no key for") as caught:
        await complete(model("", name, key="", sleep=sleeps))
    assert f"{name.partition('/')[0].upper()}_API_KEY" in caught.value.remedy
    assert sleeps == []


async def test_a_connection_that_breaks_again_and_again_is_told(api):
    api.script = [hang_up("so far")]
    with pytest.raises(ModelError, match=r"^The connection to openai/m was lost: peer closed connection") as caught:
        await complete(model(api.base))
    assert "Original" not in str(caught.value)
    assert len(api.requests) == 3


async def test_silence_is_given_up(api):
    api.script = [stall("so far")]
    pieces = []
    quiet = model(api.base, timeout=2)  # the first piece comes in less also on a loaded machine
    with pytest.raises(ModelError, match=r"did not respond for 2 seconds"):
        await quiet.complete(ASK, pieces.append)
    assert pieces == ["so far"]
    assert len(api.requests) == 1
    await asyncio.wait_for(api.left.wait(), 5)
    await quiet.close()


@pytest.mark.parametrize("pieces", [(), ("so far",)])
async def test_cancelling_closes_the_connection_at_once(api, pieces):
    api.script = [stall(*pieces)]
    a_model = model(api.base)
    task = asyncio.create_task(a_model.complete(ASK, str))
    await api.stalled.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(api.left.wait(), 1)
    await a_model.close()


async def test_ollama_is_found_where_its_own_variable_says(monkeypatch):
    monkeypatch.setenv("OLLAMA_HOST", "0.0.0.0:5555")
    assert Remote("ollama/qwen", Settings())._base() == "http://127.0.0.1:5555"


async def test_a_frequency_penalty_is_passed_on_and_only_then(api):
    api.script = [answer("ok")]
    await complete(model(api.base), replace(ASK, frequency_penalty=0.3))
    await complete(model(api.base))
    assert [request.get("frequency_penalty") for request in api.requests] == [0.3, None]


async def test_what_the_provider_had_in_its_cache_is_told_and_cheaper(api):
    counts = {"prompt_tokens": 1100, "completion_tokens": 7, "total_tokens": 1107}
    api.script = [answer("ok", usage={**counts, "prompt_tokens_details": {"cached_tokens": 1024}})]
    cached, _ = await complete(model(api.base, "openai/gpt-4o-mini"))
    api.script = [answer("ok", usage=counts)]
    api.requests.clear()
    fresh, _ = await complete(model(api.base, "openai/gpt-4o-mini"))
    assert (cached.usage.prompt_tokens, cached.usage.cached_tokens) == (1100, 1024)
    assert fresh.usage.cached_tokens == 0
    assert 0 < cached.usage.cost < fresh.usage.cost


async def test_a_price_is_told_before_the_call(api):
    api.script = [answer("ok", usage={"prompt_tokens": 1000, "completion_tokens": 500, "total_tokens": 1500})]
    known = model(api.base, "openai/gpt-4o-mini")
    reply, _ = await complete(known)
    assert known.price(1000, 500) == pytest.approx(reply.usage.cost)
    assert known.price(2000, 1000) == pytest.approx(2 * reply.usage.cost)
    assert model(api.base, "openai/m").price(1000, 500) is None
    assert model(api.base, "ollama/m").price(1000, 500) == 0


@pytest.mark.parametrize(
    ("name", "parallel", "setting", "number"),
    [
        ("openai/m", None, 0, 4),
        ("openai/m", None, 16, 16),
        ("openai/m", None, 1, 1),
        ("ollama/m", None, 0, 1),
        ("ollama_chat/m", "3", 0, 3),
        ("ollama_chat/m", "3", 2, 2),
        ("ollama/m", "many", 0, 1),
        ("ollama/m", "0", 0, 1),
    ],
)
def test_slots_are_those_of_the_setting_or_the_providers(monkeypatch, name, parallel, setting, number):
    if parallel is not None:
        monkeypatch.setenv("OLLAMA_NUM_PARALLEL", parallel)
    assert slots(model("", name, slots=setting)) == number


async def test_slots_are_those_that_the_users_own_server_says(api):
    api.script, api.properties = [answer("ok")], openai_api.say('{"total_slots": 16}')
    own = model(api.base)
    assert slots(own) == 4
    for _ in range(2):
        await own.complete(ASK, str)
    await asyncio.gather(own._served._asking)
    assert slots(own) == 16
    assert len(api.asked_properties) == 1
    await own.close()


async def test_a_first_request_does_not_wait_for_the_slots(api):
    api.script, api.properties = [answer("ok")], openai_api.stall()
    reply, _pieces = await complete(model(api.base))
    assert reply.text == "ok"


@pytest.mark.parametrize(("name", "api_slots"), [("openai/m", 3), ("anthropic/m", 0), ("ollama_chat/m", 0)])
async def test_nobody_is_asked_where_the_answer_is_known_or_nothing_to_be_expected(api, name, api_slots):
    api.script, api.properties = [refuse(400, "no")], openai_api.say('{"total_slots": 16}')
    with pytest.raises(ModelError):
        await complete(model(api.base, name, slots=api_slots))
    assert api.asked_properties == []
