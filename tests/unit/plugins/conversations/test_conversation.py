"""The conversation of one run: its report stays the same, a question may be sent ahead, and a long report shrinks."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from attempts import attempt, baseline
from greenloop.core.errors import ContextTooLongError, ModelError
from greenloop.core.events import Looked, Planned, Proposed, Token
from greenloop.core.records.attempt import Draft, Move
from greenloop.core.records.model import Role
from greenloop.core.records.problem import Findings, Problem
from greenloop.core.records.spec import Case, Region, Spec
from greenloop.core.text.tokens import estimate_messages
from greenloop.engine.model_calls import ModelCalls
from greenloop.engine.presets import find_preset
from greenloop.models.roles import Models
from greenloop.plugins.conversations.conversation import Conversation
from greenloop.project.settings import HistorySettings, Settings
from greenloop.project.snapshot import Snapshot
from greenloop_sandbox import CaseResult, Execution, Failure
from shop_run import StandIn, block

CODE = "".join(f"def f{number}(x):\n    return x + {number}\n\n\n" for number in range(200))
TESTS = "from m import f0\n\n\ndef test_f():\n    assert f0(1) == 2\n"
REGIONS = tuple(Region(path="m.py", qualname=f"f{n}", start=1 + 4 * n, end=2 + 4 * n) for n in range(200))
CASE = Case(id="test_m.py::test_f", path="test_m.py", line=4)
FAILED = CaseResult(id=CASE.id, outcome="failed", failure=Failure(type="E", message="no"))
EDIT = block("m.py", "    return x + 0", "    return x + 1")
TURN = Draft(parent=0, move=Move.TURN, role=Role.DRAFTER)


@pytest.fixture
def talk(tmp_path):
    """`talk(*steps)`: a conversation with a model that does these steps; `talk.model` and `talk.problem` are its own."""
    (tmp_path / "m.py").write_text(CODE)
    (tmp_path / "test_m.py").write_text(TESTS)
    files = {"m.py": CODE, "test_m.py": TESTS}
    problem = Problem(
        root=tmp_path,
        spec=Spec(cases=(CASE,)),
        regions=REGIONS[:1],
        suspects=REGIONS[1:],
        originals=files,
        files=files,
    )

    def make(*steps, **more):
        make.model = StandIn(steps=[*steps], **more)
        settings = Settings(history=HistorySettings(messages=True))
        models = Models(settings=settings, override=make.model)
        calls = ModelCalls(
            settings=settings, preset=find_preset("default"), models=models, secrets=("hunter2-hunter2",)
        )
        made = 0

        async def findings():
            nonlocal made
            made += 1
            assert made == 1
            return Findings(problem=problem, cases=(FAILED,))

        async def run(_attempt, _selectors, _watch=(), *, inspect=None):
            return Execution()

        return Conversation(
            calls=calls,
            snapshot=Snapshot(root=tmp_path, buffers={}),
            patterns=("test_*.py",),
            masked=(),
            run=run,
            findings=findings,
        )

    make.problem = problem
    return make


def contents(request):
    return [message.content for message in request.messages]


async def test_turns_share_their_report_and_emit_what_happens(talk):
    conversation = talk(
        [["read", {"path": "m.py", "lines": "1-2"}]], EDIT, block("m.py", "    return x + 1", "    return 0")
    )
    events: list = []
    first, problem = await conversation.turn(1, TURN, talk.problem, [baseline()], events.append)
    assert [type(event) for event in events] == [Planned, Token, Looked, Token, Proposed]
    assert [look.call.name for look in first.looks] == ["read"]
    assert (first.answer, first.model) == (EDIT, "stand-in")
    known = [baseline(), replace(first, verdict=attempt(1).verdict)]
    second, _problem = await conversation.turn(2, TURN, problem, known, events.append)
    one, two, three = talk.model.requests
    assert two.messages[: len(one.messages)] == one.messages
    assert three.messages[: len(two.messages)] == two.messages
    assert [message.content for message in second.sent.messages] == contents(three)
    assert first.usage.prompt_tokens > 0


async def test_a_question_may_be_sent_ahead_and_is_asked_once(talk):
    conversation = talk(EDIT)
    conversation.ask_ahead(baseline())
    conversation.ask_ahead(baseline())
    while not conversation.has_answer:
        await asyncio.sleep(0)
    events: list = []
    made, _problem = await conversation.turn(1, TURN, talk.problem, [baseline()], events.append)
    assert made.answer == EDIT
    assert len(talk.model.requests) == 1
    assert [type(event) for event in events] == [Planned, Token, Proposed]


async def test_no_question_is_sent_ahead_where_an_earlier_run_goes_on(talk):
    conversation = talk(EDIT)
    conversation.goes_on = True
    conversation.ask_early(Findings(problem=talk.problem, cases=(FAILED,)))
    assert await conversation.prompt_tokens() > 0
    assert not conversation.has_answer
    assert talk.model.requests == []


async def test_a_question_that_fails_ahead_fails_in_its_turn(talk):
    conversation = talk(ModelError("No key."))
    conversation.ask_ahead(baseline())
    with pytest.raises(ModelError, match="No key"):
        await conversation.turn(1, TURN, talk.problem, [baseline()], lambda _event: None)
    assert not conversation.has_answer


async def test_what_other_models_tried_is_part_of_the_first_message_and_stays(talk):
    conversation = talk(EDIT, EDIT)
    tried = attempt(1, Move.DRAFT, {REGIONS[0]: "def f0(x):\n    return 9\n"})
    first, problem = await conversation.turn(2, TURN, talk.problem, [baseline(), tried], lambda _event: None)
    await conversation.turn(3, TURN, problem, [baseline(), tried, first], lambda _event: None)
    one, two = talk.model.requests
    assert "Another model tried this before you" in contents(one)[1]
    assert "+    return 9" in contents(one)[1]
    assert two.messages[: len(one.messages)] == one.messages


async def test_a_report_shrinks_until_it_fits_and_stays_short(talk):
    tokens: list[int] = []

    def step(request):
        tokens.append(estimate_messages(request.messages))
        return ContextTooLongError("Too long.") if tokens[-1] > tokens[0] // 2 else EDIT

    conversation = talk(step)
    made, problem = await conversation.turn(1, TURN, talk.problem, [baseline()], lambda _event: None)
    assert made.answer == EDIT
    assert tokens == sorted(set(tokens), reverse=True)
    assert 2 <= len(tokens) <= 5
    await conversation.turn(2, TURN, problem, [baseline(), made], lambda _event: None)
    before, after = talk.model.requests[-2:]
    assert after.messages[: len(before.messages)] == before.messages


async def test_what_fits_no_context_is_said_with_its_remedy(talk):
    conversation = talk(ContextTooLongError("Too long."))
    with pytest.raises(ContextTooLongError) as caught:
        await conversation.turn(1, TURN, talk.problem, [baseline()], lambda _event: None)
    assert "too long for stand-in" in str(caught.value)
    assert "`model.kind`" in caught.value.remedy
    texts = [contents(request)[1] for request in talk.model.requests]
    assert len(texts) == len(set(texts)) <= 5


@pytest.mark.parametrize(("context", "most"), [(0, 8_000), (8_000, 2_000), (200_000, 24_000)])
async def test_the_room_of_a_report_is_a_share_of_the_context(talk, context, most):
    conversation = talk(EDIT, context=context)
    assert await conversation.prompt_tokens() <= most


async def test_secrets_are_masked_in_what_is_sent(talk):
    conversation = talk(EDIT)
    note = attempt(1, note="The key is hunter2-hunter2.")
    await conversation.turn(2, TURN, talk.problem, [baseline(), note], lambda _event: None)
    assert "The key is [redacted]." in contents(talk.model.requests[0])


async def test_files_that_are_not_text_or_are_tests_are_left_out(talk):
    conversation = talk(block("picture.png", "", "x"))
    (talk.problem.root / "picture.png").write_bytes(b"\x89PNG\xff")
    made, _problem = await conversation.turn(1, TURN, talk.problem, [baseline()], lambda _event: None)
    assert made.finding.message == "`picture.png` is not a text file."
