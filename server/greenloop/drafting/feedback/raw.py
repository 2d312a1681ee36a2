"""The runner's own output for each failing case, bounded, as in the published loop."""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.ports import Tools
from greenloop.core.records.attempt import Attempt, FeedbackNote
from greenloop.core.records.problem import Problem
from greenloop.drafting.feedback._rejected_answers import describe_newest

LINES = 40  # of one failing case; the exception is at the end
CHARACTERS = 6000  # of one failing case
MOST = 20  # failing cases; the rest are counted


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> FeedbackNote:  # noqa: ARG001
    """Exception, traceback and assertion of every failing case of the newest attempt; the ends of long ones."""
    return FeedbackNote(text=describe_newest(problem, attempts, render_output))


def render_output(problem: Problem, attempt: Attempt) -> str:  # noqa: ARG001 - the signature that all describers share
    """The runner's text of every failing case; of a long one the end is kept."""
    verdict = attempt.verdict
    failing = [case for case in (*verdict.cases, *verdict.collateral) if case.failure]
    pieces = [verdict.reason[-CHARACTERS:]] if verdict.reason else []
    for case in failing[:MOST]:
        text = case.failure.text if case.failure else ""
        rows = text[-CHARACTERS:].strip("\n").split("\n")
        pieces.append(f"{case.id}\n" + "\n".join(rows[-LINES:]))
    if len(failing) > MOST:
        pieces.append(f"and {len(failing) - MOST} more failing tests.")
    return "\n\n".join(pieces)
