"""models/replay: what was recorded comes back for the same request, and for no other."""

import hashlib
import json
from dataclasses import replace

import pytest

from greenloop.core.errors import ModelError, UsageError
from greenloop.core.ports import Infiller, context, slots
from greenloop.core.records.model import ChatRequest, InfillRequest, Message, Reply, Role, Usage
from greenloop.plugins.recordings.providers import replay
from greenloop.plugins.recordings.providers.replay import record_model
from greenloop.project.settings import Settings

ASK = ChatRequest(messages=(Message(role="user", content="wörds"),))


class Counting:
    """Answers with a number; fails when it is told to."""

    name = "counting"

    def __init__(self):
        self.count = 0
        self.problem = None

    async def complete(self, request, on_token):
        if self.problem:
            raise self.problem
        self.count += 1
        on_token(f"answer {self.count}")
        usage = Usage(prompt_tokens=3, completion_tokens=2, cost=None, model_seconds=1.5)
        return Reply(text=f"answer {self.count}", usage=usage, model="counting", finish="length")

    def count_tokens(self, text):
        return 42

    async def close(self):
        self.count = -1


async def record(path, *requests):
    recorder = record_model(Counting(), path)
    return [await recorder.complete(request, str) for request in requests]


def load(path):
    return replay.create(f"replay:{path}", Settings())


async def test_the_same_request_gets_the_same_reply_whole(tmp_path):
    path = tmp_path / "r.jsonl"
    hot = replace(ASK, temperature=0.7, seed=2)
    replies = await record(path, ASK, hot)
    model, pieces = load(path), []
    assert await model.complete(hot, pieces.append) == replies[1]
    assert await model.complete(replace(ASK, role=Role.CRITIC), pieces.append) == replies[0]
    assert pieces == ["answer 2", "answer 1"]


async def test_repeated_requests_come_in_their_order_and_again(tmp_path):
    path = tmp_path / "r.jsonl"
    await record(path, ASK, ASK)
    model = load(path)
    assert [(await model.complete(ASK, str)).text for _ in range(3)] == ["answer 1", "answer 2", "answer 1"]


@pytest.mark.parametrize(
    "other",
    [
        {"temperature": 0.1},
        {"max_tokens": 7},
        {"temperature": 0.1, "seed": 1},
        {"frequency_penalty": 0.5},
        {"stop": ("x",)},
        {"messages": (Message(role="system", content="wörds"),)},
        {"messages": (Message(role="user", content="words"),)},
    ],
)
async def test_another_prompt_or_sampling_is_a_miss(tmp_path, other):
    path = tmp_path / "r.jsonl"
    await record(path, ASK)
    with pytest.raises(ModelError, match=r"r\.jsonl has no answer"):
        await load(path).complete(replace(ASK, **other), str)


async def test_a_failed_request_leaves_nothing(tmp_path):
    path = tmp_path / "r.jsonl"
    inner = Counting()
    recorder = record_model(inner, path)
    inner.problem = ModelError("no")
    with pytest.raises(ModelError, match="no"):
        await recorder.complete(ASK, str)
    assert not path.exists()
    assert (recorder.name, recorder.count_tokens("x")) == ("counting", 42)
    await recorder.close()
    assert inner.count == -1


@pytest.mark.parametrize("line", ["rubbish", '{"key": "a"}', '{"key": "a", "reply": {"text": "x"}}', "[]"])
def test_a_bad_line_is_named(tmp_path, line):
    path = tmp_path / "r.jsonl"
    path.write_text(f"\n{line}\n")
    with pytest.raises(UsageError, match="Line 2 of the replay file"):
        load(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(UsageError, match="gone"):
        load(tmp_path / "gone")
    with pytest.raises(UsageError, match="needs a file"):
        replay.create("replay:", Settings())


class Filling(Counting):
    """Fills holes too, four at a time."""

    slots = 4
    context = 32_000

    async def infill(self, request, on_token):
        on_token(request.prefix)
        return Reply(text=request.prefix, usage=Usage(prompt_tokens=9, cached_tokens=5), model="filling")


HOLE = InfillRequest(prefix="a", suffix="c", stop=("\n",))


async def test_holes_are_recorded_and_replayed(tmp_path):
    recorder = record_model(Filling(), tmp_path / "r.jsonl")
    assert isinstance(recorder, Infiller)
    told = await recorder.infill(HOLE, str)
    model, pieces = load(tmp_path / "r.jsonl"), []
    assert isinstance(model, Infiller)
    assert await model.infill(replace(HOLE, role=Role.DRAFTER), pieces.append) == told
    assert told.usage.cached_tokens == 5
    assert pieces == ["a"]
    for other in ({"prefix": "b"}, {"suffix": "b"}, {"stop": ()}, {"max_tokens": 3}, {"temperature": 0.5}):
        with pytest.raises(ModelError, match="no answer"):
            await model.infill(replace(HOLE, **other), str)


async def test_what_the_model_cannot_its_recording_and_its_replay_cannot(tmp_path):
    await record(tmp_path / "r.jsonl", ASK)
    assert not isinstance(record_model(Counting(), tmp_path / "x"), Infiller)
    assert not isinstance(load(tmp_path / "r.jsonl"), Infiller)


@pytest.mark.parametrize(("fact", "of_filling", "of_others"), [(slots, 4, 1), (context, 32_000, 0)])
async def test_what_requests_depend_on_is_passed_through_and_replayed(tmp_path, fact, of_filling, of_others):
    recorder = record_model(Filling(), tmp_path / "r.jsonl")
    await recorder.complete(ASK, str)
    assert fact(recorder) == fact(load(tmp_path / "r.jsonl")) == of_filling
    await record(tmp_path / "one.jsonl", ASK)
    assert fact(record_model(Counting(), tmp_path / "x")) == fact(load(tmp_path / "one.jsonl")) == of_others


async def test_greedy_answers_do_not_depend_on_the_seed(tmp_path):
    path = tmp_path / "r.jsonl"
    await record(path, replace(ASK, seed=3))
    assert (await load(path).complete(replace(ASK, seed=4), str)).text == "answer 1"
    assert (await load(path).complete(ASK, str)).text == "answer 1"


async def test_older_files_are_read(tmp_path):
    """They have the seed in every key, and know of no frequency penalty, tools or cached tokens."""
    request = replace(ASK, seed=3)
    messages = [{"role": each.role, "content": each.content} for each in ASK.messages]
    sampled = {"messages": messages, "temperature": 0.0, "max_tokens": 1024, "seed": 3, "stop": []}
    key = hashlib.sha256(json.dumps(sampled, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
    usage = {"prompt_tokens": 3, "completion_tokens": 2, "cost": None, "model_seconds": 1.5, "test_seconds": 0.0}
    reply = {"text": "old", "usage": usage, "model": "m", "finish": "stop"}
    (tmp_path / "r.jsonl").write_text(json.dumps({"key": key, "reply": reply}))
    assert (await load(tmp_path / "r.jsonl").complete(request, str)).text == "old"
