"""A question that was sent ahead and is not needed any more costs what was read and written by then, counted once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from double_problem import PROBLEM, failing_verdict
from fake_engine import solved
from greenloop.core.records.model import ChatRequest, Reply, ToolCall, Usage
from greenloop.core.records.problem import Findings
from greenloop.engine.conversations import Withdrawn
from greenloop.engine.model_calls import ModelCalls
from greenloop.engine.outcome import with_withdrawn
from greenloop.engine.presets import find_preset
from greenloop.models.roles import Models
from greenloop.plugins.conversations.conversation import Conversation
from greenloop.project import configuration
from greenloop.project.snapshot import Snapshot

SPENT = Usage(prompt_tokens=500, completion_tokens=20, cost=0.5)
LOOK = Reply(text="", usage=SPENT, model="fake/a", calls=(ToolCall(id="1", name="fly", arguments="{}"),))
ANSWER = Reply(text="CANNOT: no.", usage=SPENT, model="fake/a")


class Model:
    """Gives its replies, then never answers; `asked` is set with the last request. A prompt token costs a dollar."""

    name = "fake/a"

    def __init__(self, replies: Sequence[Reply]) -> None:
        self.replies, self.asked = list(replies), asyncio.Event()

    async def complete(self, _request: ChatRequest, _on_token) -> Reply:
        if self.replies:
            return self.replies.pop(0)
        self.asked.set()
        await asyncio.Event().wait()
        raise AssertionError

    def price(self, prompt_tokens: int, _completion_tokens: int) -> float:
        return float(prompt_tokens)

    def count_tokens(self, text: str) -> int:
        return len(text) // 4


def ask_ahead(model, root) -> Conversation:
    settings, _warnings = configuration.load(
        None, command_line={"model": "fake/a", "model.kind": "capable"}, environ={}
    )
    models = Models(settings=settings, opened={"fake/a": model})
    calls = ModelCalls(settings=settings, preset=find_preset("default"), models=models, secrets=())
    conversation = Conversation(calls=calls, snapshot=Snapshot(root=root, buffers={}), patterns=(), masked=(), run=None)
    conversation.ask_early(Findings(problem=PROBLEM, cases=failing_verdict().cases))
    return conversation


@pytest.mark.parametrize("looks", [0, 1])
async def test_a_prompt_without_its_answer_is_counted_as_far_as_it_was_sent(tmp_path, looks):
    model = Model([LOOK] * looks)
    conversation = ask_ahead(model, tmp_path)
    await model.asked.wait()
    withdrawn = await conversation.withdraw()
    assert withdrawn.billed.tokens == 520 * looks
    assert withdrawn.pending.prompt_tokens > conversation.calls.count_tokens(conversation.report)
    assert withdrawn.pending.cost == withdrawn.pending.prompt_tokens
    assert await conversation.withdraw() == Withdrawn()


async def test_an_answer_that_nobody_took_is_in_the_ledger_already(tmp_path):
    conversation = ask_ahead(Model([ANSWER]), tmp_path)
    await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()})  # it has answered
    assert conversation.has_answer
    assert await conversation.withdraw() == Withdrawn(billed=SPENT)
    assert conversation.calls.ledger.used == SPENT


def test_the_outcome_adds_what_was_not_billed_yet_and_tells_all():
    question = Withdrawn(billed=SPENT, pending=Usage(prompt_tokens=80, cost=0.25))
    outcome = with_withdrawn(solved(None, message="Verified.", usage=SPENT), question)
    assert outcome.usage.tokens == 600
    assert outcome.withdrawn.tokens == 600
    assert outcome.message == "Verified. A question to the model was no longer needed: about 600 tokens, $0.7500."
    assert with_withdrawn(solved(None, message="Verified."), Withdrawn()).message == "Verified."
