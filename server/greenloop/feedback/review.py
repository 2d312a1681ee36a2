"""The Reviewer of MAgICoRe (arXiv 2409.12147), for the search part `magicore`: which lines are to blame, and why.

It is asked only when the samples of the first round have all failed, about the best of them, and then about every
refinement that is no worse than that. The review stands in the note's fields (`review`, and `of`: the attempt it is
about), for what is refined next need not be the newest.
"""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.loop import best
from greenloop.core.nouns import Attempt, Note, Problem, Role, Status
from greenloop.core.ports import Tools
from greenloop.feedback import cases
from greenloop.feedback._question import ask, code_of, names_of

SAMPLES = 4  # the first round of search/magicore.py
TOKENS = 120


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> Note:
    """A review of the attempt to be refined next; nothing while samples may still solve the task."""
    about = reviewed(attempts)
    if about is None:
        return Note(text="")
    reply = await ask(
        tools,
        Role.CRITIC,
        "review",
        tokens=TOKENS,
        names=names_of(problem),
        code=code_of(problem, about),
        failure=(await cases.describe(problem, attempts[: about.number + 1], tools)).text,
    )
    return Note(text="", fields={"review": reply.text.strip(), "of": about.number}, usage=reply.usage)


def reviewed(attempts: Sequence[Attempt]) -> Attempt | None:
    """The best attempt, the newest of equals; None where no review is due."""
    newest = attempts[-1]
    top = best(attempts)
    if newest.number < SAMPLES or top is None or top.verdict.status is Status.PASSED:
        return None
    about = max(
        (each for each in attempts if each.candidate and each.verdict.status not in (Status.REFUSED, Status.TAMPERED)),
        key=lambda attempt: (attempt.verdict.score, -len(attempt.verdict.collateral), attempt.number),
    )
    return about if newest.number == SAMPLES or about is newest else None
