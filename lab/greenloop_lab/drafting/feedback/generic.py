"""One fixed sentence that says nothing about the error: the baseline for specific feedback.

The sentence is the one in the code of CoCoS (arXiv 2505.23060) and SCoRe.
"""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.ports import Tools
from greenloop.core.records.attempt import Attempt, FeedbackNote
from greenloop.core.records.problem import Problem

SENTENCE = (
    "There might be an error in the code above because of lack of understanding of the question. "
    "Please correct the error, if any, and rewrite the solution."
)


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> FeedbackNote:  # noqa: ARG001
    """The same sentence for every failure."""
    return FeedbackNote(text=SENTENCE)
