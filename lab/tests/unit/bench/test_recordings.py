"""Answers are asked for once, and billed each time."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from greenloop.core.ports import Infiller, slots
from greenloop.core.records.model import ChatRequest, InfillRequest, Message, Reply, Role, Usage
from greenloop_lab.bench.recordings import Meter, Recordings, TaskAnswers, request_key, wrap_model


class Counting:
    """A model that says how often it was asked."""

    name = "counting"
    slots = 4

    def __init__(self) -> None:
        self.asked: list = []

    async def complete(self, request, on_token):
        self.asked.append(request)
        await asyncio.sleep(0)
        return Reply(text=f"answer {len(self.asked)}", usage=Usage(prompt_tokens=7, model_seconds=2.0), model=self.name)

    def count_tokens(self, text):
        return len(text)

    async def close(self):
        pass


class Filling(Counting):
    async def infill(self, request, on_token):
        return await self.complete(request, on_token)


class Of:
    """A model behind a file of answers, and what its run asked."""

    def __init__(self, model, path, repeat=0):
        self.meter = Meter()
        self.model = wrap_model(model, Recordings(path), self.meter, repeat=repeat)
        self.complete = self.model.complete


def asked(text="hello", **more):
    return ChatRequest(messages=(Message(role="user", content=text),), **more)


def nobody(_text):
    pass


async def test_an_answer_is_asked_for_once_and_billed_again(tmp_path):
    path = tmp_path / "answers.jsonl"
    first = Of(Counting(), path)
    one = await first.complete(asked(), nobody)
    model = Counting()
    later = Of(model, path)
    heard: list[str] = []
    assert await later.complete(asked(), heard.append) == one
    assert (model.asked, heard) == ([], ["answer 1"])
    assert (later.meter.calls, later.meter.hits, later.meter.saved) == (1, 1, 2.0)
    assert one.usage == Usage(prompt_tokens=7, model_seconds=2.0)


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({"seed": 3}, True),
        ({"role": Role.CRITIC}, True),
        ({"temperature": 0.5}, False),
        ({"max_tokens": 5}, False),
        ({"stop": ("x",)}, False),
        ({"frequency_penalty": 0.5}, False),
    ],
)
def test_the_seed_counts_only_where_something_is_drawn(change, same):
    assert (request_key("m", asked()) == request_key("m", replace(asked(), **change))) is same
    assert request_key("m", asked(temperature=1.0, seed=1)) != request_key("m", asked(temperature=1.0, seed=2))
    assert request_key("m", asked()) != request_key("other", asked())


async def test_repeats_draw_anew_and_greedy_answers_stay(tmp_path):
    model = Counting()
    for repeat in (0, 1, 0, 1):
        wrapped = Of(model, tmp_path / "a", repeat)
        await wrapped.complete(asked(temperature=0.8, seed=1), nobody)
        await wrapped.complete(asked(), nobody)
    assert len(model.asked) == 3
    assert len({request.seed for request in model.asked if request.temperature}) == 2


async def test_the_same_asked_side_by_side_is_asked_once(tmp_path):
    model = Counting()
    wrapped = Of(model, tmp_path / "a")
    replies = await asyncio.gather(*(wrapped.complete(asked(), nobody) for _ in range(3)))
    assert {reply.text for reply in replies} == {"answer 1"}
    assert (len(model.asked), wrapped.meter.calls) == (1, 3)


async def test_recorded_answers_side_by_side_wait_once(tmp_path):
    path = tmp_path / "a"
    first = Of(Counting(), path)
    for text in "abc":
        await first.complete(asked(text), nobody)
    later = Of(Counting(), path)
    await asyncio.gather(*(later.complete(asked(text), nobody) for text in "abc"))
    assert later.meter.saved == 2.0
    await later.complete(asked("a"), nobody)
    assert later.meter.saved == 4.0


async def test_what_a_kill_cut_off_is_asked_again(tmp_path):
    path = tmp_path / "a"
    first = Of(Counting(), path)
    await first.complete(asked("a"), nobody)
    await first.complete(asked("b"), nobody)
    path.write_bytes(path.read_bytes()[:-20])
    model = Counting()
    later = Of(model, path)
    for text in ("a", "b"):
        await later.complete(asked(text), nobody)
    assert len(model.asked) == 1
    assert len(Recordings(path)) == 2


async def test_holes_are_filled_only_where_the_model_does(tmp_path):
    assert not isinstance(Of(Counting(), tmp_path / "a").model, Infiller)
    model = Filling()
    filling = Of(model, tmp_path / "a").model
    assert isinstance(filling, Infiller)
    assert slots(filling) == 4
    hole = InfillRequest(prefix="a", suffix="b")
    for _ in range(2):
        await filling.infill(hole, nobody)
    assert model.asked == [hole]


def test_answers_of_a_task_and_those_of_which_the_task_is_not_known(tmp_path):
    recordings = Recordings(tmp_path / "answers.jsonl")
    replies = {name: Reply(text=name, usage=Usage(), model="m") for name in "abc"}
    recordings.put("a", replies["a"])
    TaskAnswers(recordings=recordings, task="t").put("b", replies["b"])
    TaskAnswers(recordings=recordings, task="u").put("c", replies["c"])
    for each in (recordings, Recordings(tmp_path / "answers.jsonl")):
        assert each.of_task("t") == {"a": replies["a"], "b": replies["b"]}
        assert TaskAnswers(recordings=each, task="t").get("c") == replies["c"]
