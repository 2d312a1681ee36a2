"""models/scripted: a script is read strictly, given in order, and its end is named."""

import json

import pytest

from greenloop.core.errors import ModelError, UsageError
from greenloop.core.ports import Infiller, calls_tools
from greenloop.core.records.model import ChatRequest, InfillRequest, Message
from greenloop.models.providers import scripted
from greenloop.project.settings import Settings

ASK = ChatRequest(messages=(Message(role="user", content="x" * 35),))


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
        assert reply.usage.prompt_tokens == 10  # a word of 35 letters has 6 tokens, the message itself 4
        assert reply.usage.completion_tokens == scripted_model.count_tokens(text)
        assert reply.usage.cost == 0


async def test_the_end_of_the_script_names_file_and_lines(tmp_path):
    path = write(tmp_path, '"a"', '"b"')
    scripted_model = model(path)
    for _ in range(2):
        await scripted_model.complete(ASK, str)
    with pytest.raises(ModelError, match=r"answers\.jsonl has 2 lines") as caught:
        await scripted_model.complete(ASK, str)
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (['"a"', "not json"], "Line 2 .* is not JSON"),
        (['"a"', "", '{"a": 1}'], "Line 3 .* is not an answer"),
        (['"a'], "Line 1 "),
        (['{"infill": 3}'], "Line 1 .* is not an answer"),
        (['{"calls": [["read"]]}'], "Line 1 .* is not an answer"),
    ],
)
def test_a_bad_line_is_named(tmp_path, lines, sentence):
    with pytest.raises(UsageError, match=sentence):
        model(write(tmp_path, *lines))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(UsageError, match=r"gone\.jsonl"):
        model(tmp_path / "gone.jsonl")
    with pytest.raises(UsageError, match="needs a file"):
        scripted.create("scripted:", Settings())


async def test_holes_and_questions_have_their_own_order(tmp_path):
    scripted_model = model(write(tmp_path, '"first"', '{"infill": "a = 1"}', '"second"', '{"infill": "b = 2"}'))
    hole = InfillRequest(prefix="x" * 7, suffix="x" * 7)
    replies = [await scripted_model.infill(hole, str) for _ in range(2)]
    assert [reply.text for reply in replies] == ["a = 1", "b = 2"]
    assert replies[0].usage.prompt_tokens > 0
    assert [(await scripted_model.complete(ASK, str)).text for _ in range(2)] == ["first", "second"]
    with pytest.raises(ModelError, match="2 lines that fill holes"):
        await scripted_model.infill(hole, str)


def test_a_script_without_holes_is_a_model_that_fills_none(tmp_path):
    assert not isinstance(model(write(tmp_path, '"a"')), Infiller)


async def test_tools_are_called(tmp_path):
    scripted_model = model(write(tmp_path, '{"calls": [["read", {"path": "m.py"}], ["run", {}]]}', '"done"'))
    assert calls_tools(scripted_model)
    reply = await scripted_model.complete(ASK, str)
    assert [(call.name, call.arguments) for call in reply.calls] == [("read", '{"path": "m.py"}'), ("run", "{}")]
    assert len({call.id for call in reply.calls}) == 2
    assert (await scripted_model.complete(ASK, str)).text == "done"
