"""models/replay: what was recorded comes back for the same request, and for no other."""

from dataclasses import replace

import pytest

from greenloop.core.errors import ModelProblem, UsageProblem
from greenloop.core.nouns import Completion, Message, Reply, Role, Usage
from greenloop.models import replay
from greenloop.settings import Settings

ASK = Completion(messages=(Message(role="user", content="wörds"),))


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
    recorder = replay.recording(Counting(), path)
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
        {"seed": 1},
        {"stop": ("x",)},
        {"messages": (Message(role="system", content="wörds"),)},
        {"messages": (Message(role="user", content="words"),)},
    ],
)
async def test_another_prompt_or_sampling_is_a_miss(tmp_path, other):
    path = tmp_path / "r.jsonl"
    await record(path, ASK)
    with pytest.raises(ModelProblem, match=r"r\.jsonl has no answer"):
        await load(path).complete(replace(ASK, **other), str)


async def test_a_failed_request_leaves_nothing(tmp_path):
    path = tmp_path / "r.jsonl"
    inner = Counting()
    recorder = replay.recording(inner, path)
    inner.problem = ModelProblem("no")
    with pytest.raises(ModelProblem, match="no"):
        await recorder.complete(ASK, str)
    assert not path.exists()
    assert (recorder.name, recorder.count_tokens("x")) == ("counting", 42)
    await recorder.close()
    assert inner.count == -1


@pytest.mark.parametrize("line", ["rubbish", '{"key": "a"}', '{"key": "a", "reply": {"text": "x"}}', "[]"])
def test_a_bad_line_is_named(tmp_path, line):
    path = tmp_path / "r.jsonl"
    path.write_text(f"\n{line}\n")
    with pytest.raises(UsageProblem, match="Line 2 of the replay file"):
        load(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(UsageProblem, match="gone"):
        load(tmp_path / "gone")
    with pytest.raises(UsageProblem, match="needs a file"):
        replay.create("replay:", Settings())
