"""Runs of a capable model over a small shop, behind a real wall: the files, its answers, and what it was sent."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from greenloop.core.records.attempt import Attempt, Move
from greenloop.core.records.model import ChatRequest, Reply, ToolCall, Usage
from greenloop.core.records.outcome import Outcome
from greenloop.core.text.tokens import estimate_messages, estimate_tokens
from greenloop.engine import refine
from greenloop.project import configuration

SHOP = '''\
"""A shop."""

from shop.rates import RATES


class Basket:
    def __init__(self, items):
        self.items = items

    def total(self):
        return sum(self.price(kind) * count for kind, count in self.items)

    def price(self, kind):
        return lookup(kind)


def lookup(kind):
    return RATES[kind.strip()]
'''
RATES = """\
import json
from pathlib import Path

RATES = json.loads((Path(__file__).parent / "rates.json").read_text())
"""
TESTS = """\
import pytest

from shop.core import Basket, lookup


@pytest.fixture
def basket():
    return Basket([("Pen", 2), ("ink", 1)])


def test_total(basket):
    assert basket.total() == 45


@pytest.mark.parametrize("kind", ["PEN", "Ink"])
def test_price(kind):
    assert lookup(kind) > 0


def test_plain():
    assert lookup("pen") == 19
"""
FILES = {
    "shop/__init__.py": "",
    "shop/core.py": SHOP,
    "shop/rates.py": RATES,
    "shop/rates.json": '{"pen": 19, "ink": 7}\n',
    "tests/test_shop.py": TESTS,
}
TARGET = "tests/test_shop.py::test_total"


def block(path: str, search: str, replace: str) -> str:
    """A search/replace block."""
    return f"{path}\n<<<<<<< SEARCH\n{search}\n=======\n{replace}\n>>>>>>> REPLACE\n"


RIGHT = block("shop/core.py", "    return RATES[kind.strip()]", "    return RATES[kind.strip().lower()]")
NARROW = block("shop/core.py", "        return lookup(kind)", "        return lookup(kind.lower())")
WRONG = block("shop/core.py", "    return RATES[kind.strip()]", "    return RATES.get(kind.strip(), 0)")


@dataclass(kw_only=True)
class StandIn:
    """A model that does one step for each request; a step is a reply's text, a list of calls, an error, or a function.

    `requests` are those that it was sent; `costs`: US dollars of a token.
    """

    steps: list[Any]
    name: str = "stand-in"
    context: int = 0
    calls_tools: bool = True
    costs: float = 0.0
    requests: list[ChatRequest] = field(default_factory=list)

    async def complete(self, request: ChatRequest, on_token: Callable[[str], None]) -> Reply:
        self.requests.append(request)
        step = self.steps.pop(0) if len(self.steps) > 1 else self.steps[0]
        step = step(request) if callable(step) else step
        if isinstance(step, Exception):
            raise step
        text, calls = ("", step) if isinstance(step, list) else (step, [])
        prompt, answer = estimate_messages(request.messages), estimate_tokens(text)
        on_token(text)
        return Reply(
            text=text,
            usage=Usage(prompt_tokens=prompt, completion_tokens=answer, cost=self.price(prompt, answer)),
            model=self.name,
            calls=tuple(as_calls(calls, len(self.requests))),
        )

    def price(self, prompt: int, answer: int) -> float:
        return self.costs * (prompt + answer)

    def count_tokens(self, text: str) -> int:
        return estimate_tokens(text)

    async def close(self) -> None:
        pass


def as_calls(calls: list[Any], number: int) -> list[ToolCall]:
    """Calls of pairs of a name and arguments, which may be malformed JSON."""
    return [
        ToolCall(
            id=f"call_{number}_{place}",
            name=name,
            arguments=arguments if isinstance(arguments, str) else json.dumps(arguments),
        )
        for place, (name, arguments) in enumerate(calls)
    ]


async def play(
    root: Path,
    *answers: Any,
    target: str = TARGET,
    model: Any = None,
    opener: Any = None,
    earlier: Any = None,
    options: Mapping[str, Any] | None = None,
    told: list[str] | None = None,
) -> tuple[Outcome, list[Any]]:
    """The outcome and the events of a run; an answer of the scripted model is a text, or a list of calls."""
    script = root.parent / "answers.jsonl"
    rows = [each if isinstance(each, str) else {"calls": each} for each in answers]
    script.write_text("".join(json.dumps(row) + "\n" for row in rows))
    line = {"model": f"scripted:{script}", "model.kind": "capable", "sandbox.kind": "bubblewrap"}
    line |= {"history.messages": True} | dict(options or {})
    settings, warnings = configuration.load(root, command_line=line)
    assert warnings == []
    events: list[Any] = []
    request = refine.RefineRequest(root=root, target=target, earlier=earlier)
    report = told.append if told is not None else str
    outcome = await refine.refine(
        request, settings=settings, emit=events.append, model=model, opener=opener, report_status=report
    )
    return outcome, events


def texts(outcome: Outcome, number: int) -> list[str]:
    """The messages that an attempt answered."""
    attempt = next(each for each in outcome.attempts if each.number == number)
    assert attempt.sent is not None
    return [message.content for message in attempt.sent.messages]


def turns(outcome: Outcome) -> list[Attempt]:
    """The attempts that are turns of a conversation."""
    return [each for each in outcome.attempts if each.draft and each.draft.move is Move.TURN]
