"""Shows the best attempt so far next to the newest one: its score, its code and its diagnosis.

After MaxCode (arXiv 2601.05475), which shows the best reward so far with the critique:
the maximum counts, not the last.
"""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.election import best_attempt
from greenloop.core.ports import Tools
from greenloop.core.records.attempt import Attempt, FeedbackNote
from greenloop.core.records.problem import Problem
from greenloop.core.text.tokens import estimate_tokens, truncate
from greenloop.drafting.feedback._critic import code_of

DIAGNOSIS = 300  # tokens of the best attempt's feedback


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> FeedbackNote:  # noqa: ARG001
    """The attempt that passes most tests; `score` is its share of them. Empty while none has run."""
    best = best_attempt(attempts)
    if best is None:
        return FeedbackNote(text="")
    verdict = best.verdict
    head = f"Best so far: score {verdict.score:.2g} ({verdict.passed} of {verdict.total} tests passed)"
    if best.number == attempts[-1].number:
        return FeedbackNote(text=f"{head}, by this code.", score=verdict.score)
    diagnosis = next((note.text for note in best.notes if note.text), "")
    text = f"{head}, by:\n{code_of(problem, best)}\n{truncate(diagnosis, DIAGNOSIS, estimate_tokens)}"
    return FeedbackNote(text=text.strip(), score=verdict.score)
