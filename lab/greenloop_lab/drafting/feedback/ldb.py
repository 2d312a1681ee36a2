"""Asks for a verdict on each block of a trace, as the debugger LDB does.

After Zhong, Wang, Shang: "Debug like a Human" (arXiv 2402.16906). One question covers all blocks of the trace of
`runtime_trace`; the blocks that the model calls wrong are shown with the trace.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from greenloop.core.ports import Tools
from greenloop.core.records.attempt import Attempt, FeedbackNote
from greenloop.core.records.problem import Problem
from greenloop.drafting.feedback._critic import ask
from greenloop.drafting.feedback._value_diff import shorten
from greenloop_lab.drafting.feedback import runtime_trace
from greenloop_lab.drafting.feedback._critic import worth_asking

TOKENS = 300  # for the verdicts: a line for each of ten blocks
WORDS = 160  # characters of one explanation

_OBJECT = re.compile(r"\{[^{}]{1,600}\}")


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> FeedbackNote:
    """The trace and its wrong blocks; the field `blocks` holds the verdicts by block number."""
    note = await runtime_trace.describe(problem, attempts, tools)
    if "traced" not in note.fields or not worth_asking(attempts):
        return note
    reply = await ask(problem, attempts[-1], tools, "ldb", tokens=TOKENS, trace=note.text)
    blocks = parse_verdicts(reply.text)
    wrong = [f"[BLOCK-{number}] is wrong: {why}" for number, why in blocks.items() if why]
    return replace(
        note,
        text="\n".join([note.text, *wrong]),
        fields={**note.fields, "blocks": dict(blocks), "explanation": " ".join(wrong)},
        usage=note.usage + reply.usage,
    )


def parse_verdicts(text: str) -> Mapping[int, str]:
    """Returns why a block is wrong, by its number; "" if it is right. Anything but JSON objects is ignored."""
    reasons: dict[int, str] = {}
    for match in _OBJECT.finditer(text):
        try:
            answer = json.loads(match[0])
        except (ValueError, RecursionError):
            continue
        number = re.search(r"\d{1,6}", str(answer.get("block", "")))
        if number and isinstance(answer.get("correct"), bool):
            why = shorten(str(answer.get("explanation") or "no reason given"), WORDS)
            reasons[int(number[0])] = "" if answer["correct"] else why
    return reasons
