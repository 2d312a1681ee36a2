"""Keeps the reflection of an answer that holds a draft, a reflection on it, and the correction.

After ReflexiCoder (arXiv 2603.05863), which trains a model to answer like this; here the preset `one-call` asks for it.
The correction is the candidate, since the last code of an answer counts. The reflection is shown to the user, and told
to the model where it wrote no correction.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from greenloop.core.ports import Tools
from greenloop.core.records.attempt import Attempt, FeedbackNote
from greenloop.core.records.problem import Problem
from greenloop.drafting.candidates.answers.code_blocks import split_prose
from greenloop.drafting.feedback._critic import LONGEST, WORDS
from greenloop.drafting.feedback._value_diff import shorten

_TITLE = re.compile(r"^[\W_]*reflection\b[\s*_:.#-]*", re.IGNORECASE)
_END = re.compile(r"[\s*_:#-]*\bcorrect(?:ion|ed code)[\s*_:.#-]*$", re.IGNORECASE)

DESCRIBES_PASSES = True  # the answer that solves the task has its reflection, too


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> FeedbackNote:  # noqa: ARG001
    """The reflection in the newest answer, as an artefact; the model is told of it where no correction followed."""
    reflection, is_corrected = read_reflection(attempts[-1].answer)
    if not reflection:
        return FeedbackNote(text="")
    text = "" if is_corrected else f"You wrote about it: {reflection}"
    return FeedbackNote(text=text, fields={"reflection": reflection, "artefacts": {"reflection": reflection}})


def read_reflection(answer: str) -> tuple[str, bool]:
    """The last prose between two blocks of code, or what follows the only one as a reflection; was it corrected?"""
    pieces = split_prose(answer[:LONGEST])
    between = [text for text in pieces[1:-1] if text.strip()]
    end = pieces[-1] if len(pieces) > 1 and _TITLE.match(pieces[-1].strip()) else ""
    text = " ".join(row.strip() for row in (between[-1] if between else end).strip().split("\n"))
    return shorten(_END.sub("", _TITLE.sub("", text)).strip(), WORDS), bool(between)
