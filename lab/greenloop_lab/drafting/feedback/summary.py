"""Summarises the failures in a few plain sentences; the runner's own output stays in the verdict.

A critic writes them; where no model can be asked, they are built from the cases.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from greenloop.core.errors import ModelError
from greenloop.core.ports import Tools
from greenloop.core.records.attempt import Attempt, FeedbackNote
from greenloop.core.records.model import Usage
from greenloop.core.records.problem import Problem
from greenloop.drafting.feedback._critic import ask
from greenloop.drafting.feedback._rejected_answers import describe_newest
from greenloop.drafting.feedback.cases import failing_rows, list_cases
from greenloop_lab.drafting.feedback._critic import as_paragraph, worth_asking

MAX_SENTENCES = 3
TOKENS = 120
_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`'\"])")


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> FeedbackNote:
    """At most `MAX_SENTENCES` sentences; the field `by` names their author, `model` or `template`."""
    if attempts[-1].finding:
        return FeedbackNote(text=describe_newest(problem, attempts, summarise_counts), fields={"by": "template"})
    if not worth_asking(attempts):
        return FeedbackNote(text=summarise_counts(problem, attempts[-1]), fields={"by": "template"})
    failures = list_cases(problem, attempts[-1])
    usage = Usage()
    try:
        reply = await ask(
            problem, attempts[-1], tools, "summary", tokens=TOKENS, sentences=str(MAX_SENTENCES), failures=failures
        )
    except ModelError:
        sentences = ""
    else:
        sentences, usage = first_sentences(as_paragraph(reply)), reply.usage
    if sentences:
        return FeedbackNote(text=sentences, fields={"by": "model", "explanation": sentences}, usage=usage)
    return FeedbackNote(text=summarise_counts(problem, attempts[-1]), fields={"by": "template"}, usage=usage)


def first_sentences(text: str) -> str:
    """The first `MAX_SENTENCES` sentences of a text."""
    return " ".join(_END.split(text)[:MAX_SENTENCES])


def summarise_counts(problem: Problem, attempt: Attempt) -> str:
    """The number of failing cases, then the first of them in a sentence each."""
    verdict = attempt.verdict
    failing_cases = failing_rows(problem, attempt)
    count_sentence = f"{verdict.total - verdict.passed} of {verdict.total} tests fail."
    return " ".join([count_sentence, *(f"{' '.join(row.split())}." for row in failing_cases[: MAX_SENTENCES - 1])])
