"""Keeps the reflection of an answer that holds a draft, a reflection on it, and the correction.

After ReflexiCoder (arXiv 2603.05863), which trains a model to answer like this; here the preset `one-call` asks for it.
The correction is the candidate, since the last code of an answer counts. The reflection is only shown to the user.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from greenloop.core.ports import Tools
from greenloop.core.records.attempt import Attempt, FeedbackNote
from greenloop.core.records.problem import Problem
from greenloop.drafting.candidates.code_blocks import split_prose
from greenloop.drafting.feedback._value_diff import shorten
from greenloop.drafting.feedback.published._critic import LONGEST, WORDS

_TITLE = re.compile(r"^[\W_]*reflection\b[\s*_:.#-]*", re.IGNORECASE)
_END = re.compile(r"[\s*_:#-]*\bcorrect(?:ion|ed code)[\s*_:.#-]*$", re.IGNORECASE)

DESCRIBES_PASSES = True  # the answer that solves the task has its reflection, too


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> FeedbackNote:  # noqa: ARG001
    """The reflection in the newest answer, as an artefact; without a text for the model."""
    reflection = read_reflection(attempts[-1].answer)
    fields = {"reflection": reflection, "artefacts": {"reflection": reflection}} if reflection else {}
    return FeedbackNote(text="", fields=fields)


def read_reflection(answer: str) -> str:
    """The last prose between two blocks of code; "" where an answer has fewer blocks, or nothing between them."""
    between = [text for text in split_prose(answer[:LONGEST])[1:-1] if text.strip()]
    text = " ".join(row.strip() for row in between[-1].split("\n")) if between else ""
    return shorten(_END.sub("", _TITLE.sub("", text)).strip(), WORDS)
