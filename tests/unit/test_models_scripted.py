"""models/scripted: a script is read strictly, given in order, and its end is named."""

import json

import pytest

from greenloop.core.errors import ModelProblem, UsageProblem
from greenloop.core.nouns import Completion, Message
from greenloop.models import scripted
from greenloop.settings import Settings

ASK = Completion(messages=(Message(role="user", content="x" * 35),))


def write(tmp_path, *lines):
    path = tmp_path / "answers.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def model(path):
    return scripted.create(f"scripted:{path}", Settings())


async def test_answers_come_in_order_and_are_streamed(tmp_path):
    texts = ["first\n  answer\n", "zwö\u2028lf", ""]
    scripted_model = model(write(tmp_path, *(json.dumps(text, ensure_ascii=False) for text in texts), ""))
    for text in texts:
        pieces = []
        reply = await scripted_model.complete(ASK, pieces.append)
        assert reply.text == text == "".join(pieces)
        assert reply.model == scripted_model.name
        assert reply.usage.prompt_tokens == 14  # 35 characters are 10 tokens, the message itself 4
        assert reply.usage.completion_tokens == scripted_model.count_tokens(text)
        assert reply.usage.cost == 0


async def test_the_end_of_the_script_names_file_and_lines(tmp_path):
    path = write(tmp_path, '"a"', '"b"')
    scripted_model = model(path)
    for _ in range(2):
        await scripted_model.complete(ASK, str)
    with pytest.raises(ModelProblem, match=r"answers\.jsonl has 2 lines") as caught:
        await scripted_model.complete(ASK, str)
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (['"a"', "not json"], "Line 2 .* is not JSON"),
        (['"a"', "", '{"a": 1}'], "Line 3 .* is not a JSON string"),
        (['"a'], "Line 1 "),
    ],
)
def test_a_bad_line_is_named(tmp_path, lines, sentence):
    with pytest.raises(UsageProblem, match=sentence):
        model(write(tmp_path, *lines))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(UsageProblem, match=r"gone\.jsonl"):
        model(tmp_path / "gone.jsonl")
    with pytest.raises(UsageProblem, match="needs a file"):
        scripted.create("scripted:", Settings())
