"""The failures in a few plain sentences; the runner's own words stay in the verdict.

A critic writes them; where no model can be asked they are put together from the cases.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from greenloop.core.errors import ModelProblem
from greenloop.core.nouns import Attempt, Note, Problem, Role, Usage
from greenloop.core.ports import Tools
from greenloop.feedback._cases import listed, rows
from greenloop.feedback._critic import words, worth_asking
from greenloop.feedback._findings import told
from greenloop.feedback._question import ask

SENTENCES = 3
TOKENS = 120
_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`'\"])")


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> Note:
    """At most `SENTENCES` sentences; the field `by` says who wrote them, `model` or `template`."""
    if attempts[-1].finding:
        return Note(text=told(problem, attempts, templated), fields={"by": "template"})
    if not worth_asking(attempts):
        return Note(text=templated(problem, attempts[-1]), fields={"by": "template"})
    failures = listed(problem, attempts[-1])
    usage = Usage()
    try:
        reply = await ask(tools, Role.CRITIC, "summary", tokens=TOKENS, sentences=str(SENTENCES), failures=failures)
    except ModelProblem:
        said = ""
    else:
        said, usage = bounded(words(reply)), reply.usage
    if said:
        return Note(text=said, fields={"by": "model", "explanation": said}, usage=usage)
    return Note(text=templated(problem, attempts[-1]), fields={"by": "template"}, usage=usage)


def bounded(text: str) -> str:
    """The first `SENTENCES` sentences."""
    return " ".join(_END.split(text)[:SENTENCES])


def templated(problem: Problem, attempt: Attempt) -> str:
    """How many cases fail, then the first of them, a sentence each."""
    verdict = attempt.verdict
    failing = rows(problem, attempt)
    count = f"{verdict.total - verdict.passed} of {verdict.total} tests fail."
    return " ".join([count, *(f"{' '.join(row.split())}." for row in failing[: SENTENCES - 1])])
