"""The debugger of LDB (Zhong, Wang, Shang: "Debug like a Human", arXiv 2402.16906): a verdict on each block of a trace.

One batch question for all blocks of the trace of `runtime_trace`; what the model calls wrong is told with the trace.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from greenloop.core.nouns import Attempt, Note, Problem, Role
from greenloop.core.ports import Tools
from greenloop.feedback import runtime_trace
from greenloop.feedback._critic import worth_asking
from greenloop.feedback._question import ask, names_of
from greenloop.feedback._values import short

TOKENS = 300  # of the verdicts: a line for each of ten blocks
WORDS = 160  # characters of one explanation

_OBJECT = re.compile(r"\{[^{}]{1,600}\}")


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> Note:
    """The trace, and which of its blocks are wrong; the field `blocks` holds the verdicts by the blocks' numbers."""
    note = await runtime_trace.describe(problem, attempts, tools)
    if "traced" not in note.fields or not worth_asking(attempts):
        return note
    reply = await ask(tools, Role.CRITIC, "ldb", tokens=TOKENS, names=names_of(problem), trace=note.text)
    blocks = verdicts(reply.text)
    wrong = [f"[BLOCK-{number}] is wrong: {why}" for number, why in blocks.items() if why]
    return replace(
        note,
        text="\n".join([note.text, *wrong]),
        fields={**note.fields, "blocks": dict(blocks), "explanation": " ".join(wrong)},
        usage=note.usage + reply.usage,
    )


def verdicts(text: str) -> Mapping[int, str]:
    """Why a block is wrong, by its number; "" for those that are right. What is no JSON is left aside."""
    found: dict[int, str] = {}
    for match in _OBJECT.finditer(text):
        try:
            told = json.loads(match[0])
        except (ValueError, RecursionError):
            continue
        number = re.search(r"\d{1,6}", str(told.get("block", "")))
        if number and isinstance(told.get("correct"), bool):
            why = short(str(told.get("explanation") or "no reason given"), WORDS)
            found[int(number[0])] = "" if told["correct"] else why
    return found
