"""The rules of the port Model, once over every kind that needs no weights."""

import asyncio
import inspect
import json

import pytest

import openai_api
from greenloop.core import registry
from greenloop.core.errors import ModelError
from greenloop.core.ports import Infiller, slots
from greenloop.core.records.model import ChatRequest, InfillRequest, Message
from greenloop.plugins.recordings.providers.replay import record_model
from greenloop.project.settings import ApiSettings, Settings

ASK = ChatRequest(messages=(Message(role="user", content="Write f."),))
HOLE = InfillRequest(prefix="def f():\n    return ", suffix="\n", stop=("\n",))
OTHER = ChatRequest(messages=(Message(role="user", content="Write g."),))
FILLED = "'ä'"
TEXT = "```python\ndef f():\n    return 'ä'\n```\n"


@pytest.fixture(params=["scripted", "replay", "remote"])
async def model(request, tmp_path, monkeypatch):
    """A model that answers ASK with TEXT and fails the next time it is asked, for OTHER."""
    script = tmp_path / "script.jsonl"
    script.write_text(f"{json.dumps(TEXT)}\n{json.dumps({'infill': FILLED})}")
    scripted = registry.load_part("models", "scripted").create(f"scripted:{script}", Settings())
    async with openai_api.serve() as api:
        name, settings = f"scripted:{script}", Settings()
        if request.param == "replay":
            recorder = record_model(scripted, tmp_path / "replay.jsonl")
            await recorder.complete(ASK, str)
            await recorder.infill(HOLE, str)
            name = f"replay:{tmp_path / 'replay.jsonl'}"
        if request.param == "remote":
            monkeypatch.setenv("CONTRACT_KEY", "contract-key")
            api.script = [openai_api.answer(*TEXT.splitlines(keepends=True)), openai_api.refuse(400, "no")]
            name, settings = "openai/m", Settings(api=ApiSettings(base=api.base, key="CONTRACT_KEY"))
        a_model = registry.load_part("models", request.param).create(name, settings)
        assert a_model.name == name
        yield a_model
        await a_model.close()


async def test_pieces_add_up_to_the_answer_and_usage_is_told(model):
    pieces = []
    reply = await model.complete(ASK, pieces.append)
    assert reply.text == TEXT == "".join(pieces)
    assert reply.finish == "stop"
    assert reply.usage.prompt_tokens > 0
    assert reply.usage.completion_tokens > 0
    assert reply.model


async def test_a_filled_hole_is_told_as_an_answer_is(model):
    if not isinstance(model, Infiller):
        pytest.skip("fills no holes")
    pieces = []
    reply = await model.infill(HOLE, pieces.append)
    assert reply.text == FILLED == "".join(pieces)
    assert reply.usage.prompt_tokens > 0
    assert reply.model
    with pytest.raises(ModelError) as caught:
        await model.infill(InfillRequest(prefix="never", suffix="asked"), str)
    assert caught.value.remedy


async def test_there_is_at_least_one_slot(model):
    assert slots(model) >= 1


async def test_no_answer_is_a_model_problem_with_a_remedy(model):
    await model.complete(ASK, str)
    with pytest.raises(ModelError) as caught:
        await model.complete(OTHER, str)
    assert str(caught.value).endswith(".")
    assert caught.value.remedy


async def test_cancelling_leaves_as_cancellation(model):
    pieces = []

    def first(piece):
        pieces.append(piece)
        task.cancel()

    task = asyncio.create_task(model.complete(ASK, first))
    await asyncio.wait([task])
    # A kind that has nothing more to wait for may end before it notices.
    assert task.cancelled() or task.result().text == "".join(pieces)


async def test_tokens_are_counted_without_asking_anybody(model):
    assert model.count_tokens("") == 0
    assert 0 < model.count_tokens("def f(): pass") < model.count_tokens("def f(): pass\n" * 9)


async def test_closing_twice_is_fine(model):
    await model.close()


@pytest.mark.parametrize("name", registry.list_parts("models"))
def test_every_kind_is_made_the_same_way(name):
    create = registry.load_part("models", name).create
    parameters = inspect.signature(create).parameters.values()
    assert [each.name for each in parameters if each.default is each.empty] == ["name", "settings"]
    for method in ("complete", "count_tokens", "close"):
        assert callable(
            getattr(registry.load_part("models", name).create.__globals__[create.__annotations__["return"]], method)
        )
