"""The question about numbered candidates, and answers that are an order or none."""

from __future__ import annotations

import pytest

from double_problem import HALF, PROBLEM, RIGHT, WRONG, failing_verdict
from greenloop.core.records.attempt import Attempt, Candidate
from greenloop.core.records.model import ChatRequest, Reply, Role, Usage
from greenloop.core.records.problem import Excerpt
from greenloop.core.text.tokens import estimate_tokens
from greenloop_lab.engine.rankers._question import ROOM, TOKENS, order_candidates, read_order

(REGION,) = PROBLEM.regions
BASELINE = Attempt(number=0, verdict=failing_verdict())


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("2, 3, 1", [1, 2, 0]),
        ("3", [2, 0, 1]),
        ("3\n1\n2\n", [2, 0, 1]),
        ("```\n2 > 1 > 3\n```", [1, 0, 2]),
        ("[1, 2, 3]", [0, 1, 2]),
        ("The second one.", None),
        ("2 passes, as 3 does not", None),
        ("4, 1", None),
        ("0, 1", None),
        ("1, 1", None),
        ("", None),
        (", ,", None),
    ],
)
def test_an_order_is_numbers_alone(text, order):
    assert read_order(text, 3) == order


def candidates(*expressions: str) -> list[Attempt]:
    return [
        Attempt(
            number=number,
            verdict=failing_verdict(),
            candidate=Candidate(texts={REGION: f"def double(x):\n    return {each}\n"}),
        )
        for number, each in enumerate(expressions, 1)
    ]


async def ask_about(answer: str, *expressions: str) -> tuple[list[int], ChatRequest]:
    requests = []

    async def ask(request: ChatRequest) -> Reply:
        requests.append(request)
        return Reply(text=answer, usage=Usage(completion_tokens=3), model="scripted")

    excerpts = [
        Excerpt(title="Source:", text="def double(x): ...", value=1.0, own=True),
        Excerpt(title="Tests:", text=PROBLEM.files["test_m.py"], value=0.9),
    ]
    order, reply = await order_candidates(
        PROBLEM, BASELINE, candidates(*expressions), ask, estimate_tokens, excerpts=excerpts
    )
    assert reply.usage.completion_tokens == 3
    return list(order), requests[0]


async def test_one_short_question_has_the_numbered_candidates():
    order, request = await ask_about("3, 1", WRONG[0], HALF, RIGHT)
    assert order == [2, 0, 1]
    assert (request.role, request.max_tokens, len(request.messages)) == (Role.RANKER, TOKENS, 1)
    text = request.messages[0].content
    places = [
        text.index(f"{number}. ```python\ndef double(x):\n    return {each}\n```")
        for number, each in enumerate((WRONG[0], HALF, RIGHT), 1)
    ]
    assert places == sorted(places)
    assert "assert double(5) == 10" in text
    assert "def double(x): ..." not in text  # the candidates take its place
    assert "such as: 3, 2, 1" in text


async def test_an_unreadable_answer_leaves_the_order():
    assert (await ask_about("I think that the last one is right.", *WRONG[:4]))[0] == [0, 1, 2, 3]


async def test_long_candidates_share_the_room():
    long = " + ".join(["x"] * 5000)
    _order, request = await ask_about("1", long, f"{long} + 1", f"{long} + 2")
    assert estimate_tokens(request.messages[0].content) < 2 * ROOM
