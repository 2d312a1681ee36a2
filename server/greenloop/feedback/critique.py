"""The model's opinion of its own code, without any execution: what feedback by execution is measured against.

For benchmarks only. The critic is asked how sure it is; the answer is recorded and decides nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from greenloop.core.nouns import Attempt, Note, Problem
from greenloop.core.ports import Tools
from greenloop.feedback._asking import ask, code_of, words

TOKENS = 200
LONGEST = 20_000  # characters of an answer that are read
_SURE = re.compile(r"confidence\W{0,10}(\d+(?:\.\d+)?)\s*(%|/\s*100?\b)?", re.IGNORECASE)


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> Note:
    """A critique of the newest code; the field `confidence` (0..1) where the critic names one.

    Nothing of the verdict is in the prompt.
    """
    newest = attempts[-1]
    if newest.number == 0 or newest.candidate is None:
        return Note(text="")
    task = problem.instruction or "Its tests must pass."
    reply = await ask(tools, "feedback/critique", TOKENS, task=task, code=code_of(problem, newest))
    said = words(replace(reply, text=_SURE.sub("", reply.text[:LONGEST])))
    sure = confidence(reply.text)
    return Note(
        text=said, fields={"explanation": said} | ({} if sure is None else {"confidence": sure}), usage=reply.usage
    )


def confidence(answer: str) -> float | None:
    """The number between 0 and 1 that stands behind the word; percents and tenths are converted."""
    found = _SURE.search(answer[:LONGEST])
    if found is None:
        return None
    value, unit = float(found[1]), found[2] or ""
    if "%" in unit or "100" in unit or value > 10:
        value /= 100
    elif unit:
        value /= 10
    return value if value <= 1 else None
