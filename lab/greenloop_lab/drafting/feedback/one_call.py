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
from greenloop.core.text.diff import with_plain_ends
from greenloop.drafting.feedback._critic import LONGEST
from greenloop.drafting.feedback._value_diff import shorten
from greenloop_lab.drafting.feedback._critic import WORDS

_TITLE = re.compile(r"^[\W_]*reflection\b[\s*_:.#-]*", re.IGNORECASE)
_FENCE = re.compile(r"^[ \t>]*(`{3,}|~{3,})[ \t]*([^`\n]*?)[ \t]*$")
_END = re.compile(r"[\s*_:#-]*\bcorrect(?:ion|ed code)[\s*_:.#-]*$", re.IGNORECASE)

DESCRIBES_PASSES = True  # the answer that solves the task has its reflection, too


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> FeedbackNote:  # noqa: ARG001
    """The reflection in the newest answer, as an artefact; the model sees it if no correction followed."""
    reflection, is_corrected = read_reflection(attempts[-1].answer)
    if not reflection:
        return FeedbackNote(text="")
    text = "" if is_corrected else f"You wrote about it: {reflection}"
    return FeedbackNote(text=text, fields={"reflection": reflection, "artefacts": {"reflection": reflection}})


def read_reflection(answer: str) -> tuple[str, bool]:
    """The last prose between two blocks of code, or what follows the only one as a reflection; was it corrected?"""
    pieces = _split_prose(answer[:LONGEST])
    between = [text for text in pieces[1:-1] if text.strip()]
    end = pieces[-1] if len(pieces) > 1 and _TITLE.match(pieces[-1].strip()) else ""
    text = " ".join(row.strip() for row in (between[-1] if between else end).strip().split("\n"))
    return shorten(_END.sub("", _TITLE.sub("", text)).strip(), WORDS), bool(between)


def _split_prose(text: str) -> list[str]:
    """Returns an answer's prose before, between and after its fenced blocks, one text more than there are blocks."""
    pieces, fence = [""], ""
    for line in with_plain_ends(text).split("\n"):
        found = _FENCE.match(line)
        if fence:
            fence = "" if found and not found[2] and found[1].startswith(fence) else fence
        elif found:
            fence = found[1]
            pieces.append("")
        else:
            pieces[-1] += f"{line}\n"
    return pieces
