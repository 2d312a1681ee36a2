"""models/local against a server that speaks the embedded one's protocol: what is asked, and what is made of its answer."""

import asyncio
import json
from dataclasses import replace

import pytest

import openai_api
from greenloop.core.errors import ContextTooLongError, ModelError
from greenloop.core.ports import Infiller, context, slots
from greenloop.core.records.model import ChatRequest, InfillRequest, Message
from greenloop.models import roles
from greenloop.plugins.embedded import catalogue, server
from greenloop.plugins.embedded.providers import local
from greenloop.plugins.embedded.settings import EmbeddedSettings
from greenloop.project.settings import ApiSettings, Settings
from tiny_weights import make_tiny_model

HOLE = InfillRequest(prefix="def f(a, b):\n", suffix="\nprint(f(1, 2))\n", stop=("\n",), max_tokens=20, seed=3)
ASK = ChatRequest(messages=(Message(role="user", content="Write f."),), max_tokens=9)
TIMINGS = {"cache_n": 80, "prompt_n": 20, "predicted_n": 7, "prompt_per_second": 50.0}


def events(*found, end=b""):
    """The events as the server streams them."""

    async def behave(_server, _reader, writer):
        writer.write(openai_api.head(200, "text/event-stream"))
        for event in found:
            writer.write(b"data: " + json.dumps(event).encode() + b"\n\n")
            await writer.drain()
        writer.write(end)
        await writer.drain()

    return behave


def filled(*pieces, stop_type="word", timings=TIMINGS):
    """A raw completion's events: its last one says so, and no line of its own follows."""
    last = {"content": "", "stop": True, "stop_type": stop_type, "timings": timings}
    return events(*({"content": piece, "stop": False} for piece in pieces), last)


def said(*pieces, finish="stop"):
    chunks = [{"choices": [{"delta": {"content": piece}, "finish_reason": None}]} for piece in pieces]
    last = {"choices": [{"delta": {}, "finish_reason": finish}], "timings": TIMINGS}
    return events(*chunks, last, end=b"data: [DONE]\n\n")


@pytest.fixture
async def api():
    async with openai_api.serve() as api:
        api.models = []
        running = server.RunningServer(port=api.port, key="k", pid=1, context=4096, threads=2)

        async def start(_settings, model):
            api.models.append(model.name)
            return running

        api.start = start
        yield api


@pytest.fixture
def model(api):
    return local.create("local", Settings(api=ApiSettings(timeout=5)), api.start)


async def test_a_hole_is_asked_for_in_the_models_own_way(api, model):
    api.script = [filled("    return", " a + b")]
    pieces = []
    reply = await model.infill(HOLE, pieces.append)
    assert reply.text == "    return a + b" == "".join(pieces)
    assert (reply.model, reply.finish) == ("local", "stop")
    [sent] = api.requests
    assert sent["prompt"] == f"<|fim_prefix|>{HOLE.prefix}<|fim_suffix|>{HOLE.suffix}<|fim_middle|>"
    assert (sent["n_predict"], sent["temperature"], sent["seed"], sent["stream"]) == (20, 0.0, 3, True)
    assert sent["stop"][0] == "\n"
    assert {"<|fim_pad|>", "<|endoftext|>", "<|file_sep|>"} <= set(sent["stop"])
    assert api.headers[0]["authorization"] == "Bearer k"
    assert isinstance(model, Infiller)


@pytest.mark.parametrize(
    ("name", "prompt", "stop"),
    [
        ("granite-4.0-micro", "<|fim_prefix|>{p}<|fim_suffix|>{s}<|fim_middle|>", "<|end_of_text|>"),
        ("seed-coder-8b", "<[fim-suffix]>{s}<[fim-prefix]>{p}<[fim-middle]>", "<[end▁of▁sentence]>"),
    ],
)
async def test_a_hole_is_asked_for_in_each_familys_words(api, name, prompt, stop):
    api.script = [filled("    return a + b")]
    model = local.create(f"local/{name}", Settings(api=ApiSettings(timeout=5)), api.start)
    reply = await model.infill(HOLE, str)
    assert (reply.text, reply.model) == ("    return a + b", f"local/{name}")
    [sent] = api.requests
    assert sent["prompt"] == prompt.format(p=HOLE.prefix, s=HOLE.suffix)
    assert stop in sent["stop"]
    assert "<|endoftext|>" not in sent["stop"]
    assert api.models == [name]


async def test_code_that_looks_like_a_template_stays_as_it_is(api, model):
    api.script = [filled("x")]
    await model.infill(replace(HOLE, prefix='f"{suffix} {prefix} {0} {"', suffix="{middle}"), str)
    assert api.requests[0]["prompt"] == ('<|fim_prefix|>f"{suffix} {prefix} {0} {"<|fim_suffix|>{middle}<|fim_middle|>')


def test_a_model_without_known_words_is_no_infiller(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    catalogue.record(make_tiny_model(name="mine", fim=""))
    assert not isinstance(local.create("local/mine", Settings()), Infiller)


def test_the_context_is_the_models_where_it_is_smaller(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    catalogue.record(make_tiny_model(name="mine", context=2048))
    assert context(local.create("local/mine", Settings())) == 2048
    assert context(local.create("local", Settings())) == 4096


def test_an_unknown_model_is_told():
    with pytest.raises(ModelError, match="no embedded model named 'none'"):
        roles.open_model("local/none", Settings())


async def test_a_hole_that_is_cut_says_so(api, model):
    api.script = [filled("x", stop_type="limit")]
    assert (await model.infill(HOLE, str)).finish == "length"


@pytest.mark.parametrize("kind", ["hole", "chat"])
async def test_usage_has_the_whole_prompt_and_what_was_not_read_again(api, model, kind):
    api.script = [filled("x") if kind == "hole" else said("x")]
    reply = await (model.infill(HOLE, str) if kind == "hole" else model.complete(ASK, str))
    usage = reply.usage
    assert (usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens, usage.cost) == (100, 80, 7, 0)
    assert usage.model_seconds > 0


async def test_without_timings_usage_is_estimated(api, model):
    api.script = [filled("some words", timings=None)]
    usage = (await model.infill(HOLE, str)).usage
    assert usage.prompt_tokens > 10
    assert usage.completion_tokens == model.count_tokens("some words") > 0
    assert usage.cached_tokens == 0


async def test_a_chat_passes_its_sampling_on(api, model):
    api.script = [said("def ", "f", finish="length")]
    reply = await model.complete(replace(ASK, temperature=0.7, seed=4, stop=("END",), frequency_penalty=0.4), str)
    assert (reply.text, reply.finish) == ("def f", "length")
    [sent] = api.requests
    assert (sent["temperature"], sent["seed"], sent["stop"], sent["frequency_penalty"]) == (0.7, 4, ["END"], 0.4)
    assert (sent["max_tokens"], sent["cache_prompt"]) == (9, True)


@pytest.mark.parametrize("kind", ["hole", "chat"])
async def test_cancelling_closes_the_connection(api, model, kind):
    api.script = [openai_api.stall()]
    task = asyncio.create_task(model.infill(HOLE, str) if kind == "hole" else model.complete(ASK, str))
    await api.stalled.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with asyncio.timeout(5):
        await api.left.wait()


async def test_an_answer_that_breaks_off_is_asked_for_once_more(api, model):
    api.script = [events({"content": "x", "stop": False}), filled("y")]
    assert (await model.infill(HOLE, str)).text == "y"
    api.requests.clear()
    api.script = [events({"content": "x", "stop": False})]
    with pytest.raises(ModelError, match="exited twice"):
        await model.infill(HOLE, str)
    assert len(api.requests) == 2


async def test_a_hole_that_does_not_fit_is_told(api, model):
    api.script = [openai_api.refuse(400, "too long", type="exceed_context_size_error")]
    with pytest.raises(ContextTooLongError, match="context of 4096 tokens"):
        await model.infill(HOLE, str)


def test_slots_are_the_settings():
    assert slots(local.create("local", Settings())) == 1
    assert slots(local.create("local", Settings(plugins=(EmbeddedSettings(slots=4),)))) == 4


def spelled(*words, rivals=(), stop_type="word"):
    """A filling with the probabilities of its tokens; `rivals` are the next best ones of the first."""
    numbers = {word: number for number, word in enumerate([*words, *rivals], 10)}

    def row(word, share):
        return {"id": numbers[word], "bytes": list(word.encode()), "logprob": share}

    first = [{**row(words[0], -0.1), "top_logprobs": [row(words[0], -0.1), *(row(each, -1.0) for each in rivals)]}]
    rest = [[{**row(word, -0.1), "top_logprobs": [row(word, -0.1)]}] for word in words[1:]]
    tokens = [
        {"content": word, "stop": False, "timings": TIMINGS, "completion_probabilities": steps}
        for word, steps in zip(words, [first, *rest], strict=True)
    ]
    return events(*tokens, {"content": "", "stop": True, "stop_type": stop_type, "timings": TIMINGS})


async def test_the_next_best_filling_begins_with_another_token_of_the_same_prompt(api, model):
    api.script = [spelled("return", " a", rivals=("yield",)), spelled(" b")]
    pieces = []
    reply = await model.infill(replace(HOLE, fillings=2), pieces.append)
    assert (reply.text, reply.others, pieces) == ("return a", ("yield b",), ["return a"])
    first, second = api.requests
    assert first["n_probs"] > 1
    assert second["prompt"] == [first["prompt"], 12]
    usage = reply.usage  # what was in the cache for the second is counted once
    assert (usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens) == (120, 80, 14)


async def test_what_stood_in_a_hole_is_not_the_answer(api, model):
    api.script = [spelled("return", " a", rivals=("yield",)), spelled(" b")]
    reply = await model.infill(replace(HOLE, avoid="return a"), str)
    assert (reply.text, reply.others) == ("yield b", ())


async def test_a_statement_is_ended_behind_its_block(api, model):
    hole = replace(HOLE, prefix="def f(a, b):\n    ", lines=6, is_statement=True, stop=())
    api.script = [
        events(
            *(
                {"content": each, "stop": False, "timings": TIMINGS}
                for each in ("if a:\n", "        return", " b\n", "    return", " never", " read")
            )
        )
    ]
    reply = await model.infill(hole, str)
    assert reply.text == "if a:\n        return b"
    assert reply.usage.completion_tokens == 7
