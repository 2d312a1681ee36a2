"""One fixed sentence that says nothing about the error: what specific feedback is measured against.

The sentence is that of the code bases of CoCoS (arXiv 2505.23060) and SCoRe.
"""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.nouns import Attempt, Note, Problem
from greenloop.core.ports import Tools

SENTENCE = (
    "There might be an error in the code above because of lack of understanding of the question. "
    "Please correct the error, if any, and rewrite the solution."
)


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> Note:  # noqa: ARG001
    """The sentence, whatever happened."""
    return Note(text=SENTENCE)
