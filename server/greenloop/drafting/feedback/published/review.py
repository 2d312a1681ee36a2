"""The Reviewer of MAgICoRe (arXiv 2409.12147), for the search part `magicore`: finds faulty lines.

It is asked only when all samples of the first round have failed, about the best of them, and then about every
refinement that is no worse. The review is in the note's fields (`review`, and `of`: the attempt it is about), since the
attempt to refine next need not be the newest.
"""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.attempts import best_attempt
from greenloop.core.ports import Tools
from greenloop.core.records.attempt import Attempt, FeedbackNote
from greenloop.core.records.model import Role
from greenloop.core.records.problem import Problem
from greenloop.core.records.verdict import Status
from greenloop.drafting.feedback import cases
from greenloop.drafting.feedback.published._critic_prompt import ask, code_of, names_of

SAMPLES = 4  # the first round of search/magicore.py
TOKENS = 120


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> FeedbackNote:
    """A review of the attempt to refine next; nothing while samples may still solve the task."""
    attempt = attempt_to_review(attempts)
    if attempt is None:
        return FeedbackNote(text="")
    reply = await ask(
        tools,
        Role.CRITIC,
        "review",
        tokens=TOKENS,
        names=names_of(problem),
        code=code_of(problem, attempt),
        failure=(await cases.describe(problem, attempts[: attempt.number + 1], tools)).text,
    )
    return FeedbackNote(text="", fields={"review": reply.text.strip(), "of": attempt.number}, usage=reply.usage)


def attempt_to_review(attempts: Sequence[Attempt]) -> Attempt | None:
    """The best attempt, the newest of equals; None where no review is due."""
    newest = attempts[-1]
    best = best_attempt(attempts)
    if newest.number < SAMPLES or best is None or best.verdict.status is Status.PASSED:
        return None
    newest_best = max(
        (each for each in attempts if each.candidate and each.verdict.status not in (Status.REFUSED, Status.TAMPERED)),
        key=lambda attempt: (attempt.verdict.score, -len(attempt.verdict.collateral), attempt.number),
    )
    return newest_best if newest.number == SAMPLES or newest_best is newest else None
