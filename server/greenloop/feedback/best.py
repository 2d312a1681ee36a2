"""The best attempt so far beside the newest one: its score, its code and its diagnosis.

MaxCode (arXiv 2601.05475) shows the best reward so far with the critique; what counts is the maximum, not the last.
"""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.loop import best
from greenloop.core.nouns import Attempt, Note, Problem
from greenloop.core.ports import Tools
from greenloop.core.prompt import cut
from greenloop.core.tokens import estimate
from greenloop.feedback._question import code_of

DIAGNOSIS = 300  # tokens of what was said of the best attempt


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> Note:  # noqa: ARG001
    """Which attempt passes most tests; `score` is its share of them. Empty while none has run."""
    top = best(attempts)
    if top is None:
        return Note(text="")
    verdict = top.verdict
    head = f"Best so far: score {verdict.score:.2g} ({verdict.passed} of {verdict.total} tests passed)"
    if top.number == attempts[-1].number:
        return Note(text=f"{head}, by this code.", score=verdict.score)
    diagnosis = next((note.text for note in top.notes if note.text), "")
    text = f"{head}, by:\n{code_of(problem, top)}\n{cut(diagnosis, DIAGNOSIS, estimate)}"
    return Note(text=text.strip(), score=verdict.score)
