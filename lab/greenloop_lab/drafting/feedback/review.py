"""The Reviewer of MAgICoRe (arXiv 2409.12147), for the search part `magicore`: finds faulty lines.

It is asked only when all samples of the first round have failed, about the best of them, and then about every
refinement that is no worse. The review is in the note's fields (`review`, and `of`: the attempt it is about), since the
attempt to refine next need not be the newest.
"""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.ports import Tools
from greenloop.core.records.attempt import Attempt, FeedbackNote
from greenloop.core.records.problem import Problem
from greenloop.core.records.verdict import Status
from greenloop.drafting.feedback._critic import ask
from greenloop.drafting.feedback._rejected_answers import describe_newest
from greenloop.drafting.feedback.cases import list_cases
from greenloop_lab.drafting.search._newest_best import newest_best

SAMPLES = 4  # the first round of search/magicore.py
TOKENS = 120


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> FeedbackNote:
    """A review of the attempt to refine next; nothing while samples may still solve the task."""
    attempt = attempt_to_review(attempts)
    if attempt is None:
        return FeedbackNote(text="")
    failure = describe_newest(problem, attempts[: attempt.number + 1], list_cases)
    reply = await ask(problem, attempt, tools, "review", tokens=TOKENS, failure=failure)
    return FeedbackNote(text="", fields={"review": reply.text.strip(), "of": attempt.number}, usage=reply.usage)


def attempt_to_review(attempts: Sequence[Attempt]) -> Attempt | None:
    """The best attempt, the newest of equals; None where no review is due."""
    newest, best = attempts[-1], newest_best(attempts)
    if newest.number < SAMPLES or best is None or any(each.verdict.status is Status.PASSED for each in attempts):
        return None
    return best if newest.number == SAMPLES or best is newest else None
