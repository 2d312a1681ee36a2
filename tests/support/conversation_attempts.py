"""Attempts of a conversation with a capable model: with looks, tokens from a cache, and blemishes."""

from __future__ import annotations

import json
from typing import Any

from greenloop.core.records.attempt import Attempt, Draft, Look, Move
from greenloop.core.records.model import Role, ToolCall, Usage
from greenloop.core.records.verdict import Status, Verdict
from greenloop_sandbox import CaseResult

BLEMISH = "`x = 1` is overwritten by the next line, m.py:12"
PASSED = Verdict(status=Status.PASSED, cases=(CaseResult(id="test_m.py::test_double", outcome="passed"),))
DRAFT = Draft(parent=0, move=Move.TURN, role=Role.DRAFTER)


def look(name: str = "read", summary: str = "", result: str = "m.py, lines 1-2 of 2:\nx", **arguments: Any) -> Look:
    words = " ".join([name, *(", ".join(each) if isinstance(each, list) else str(each) for each in arguments.values())])
    call = ToolCall(id="1", name=name, arguments=json.dumps(arguments))
    return Look(call=call, result=result, summary=summary or words, seconds=0.1)


def turn(number: int, *looks: Look, **fields: Any) -> Attempt:
    """A turn with these looks that passes; most of its prompts were in a cache."""
    usage = Usage(prompt_tokens=12_000, completion_tokens=300, cached_tokens=9_800)
    made = {"parent": 0, "draft": DRAFT, "model": "scripted", "verdict": PASSED, "usage": usage, **fields}
    return Attempt(number=number, looks=looks, **made)


LOOKS = (
    look(path="m.py"),
    look("search", "search RATES: m.py:3: RATES = {}", text="RATES"),
    look("run", tests=["t.py"]),
)
MANY_LOOKS = tuple(look(path=f"m{number}.py") for number in range(11))
