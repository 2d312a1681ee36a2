"""The runner's own words: exception, traceback and assertion of each failing case (seeds: the published loop)."""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.nouns import Attempt, Note, Problem, Verdict
from greenloop.core.ports import Tools

LINES = 40  # of one failing case; its end holds the exception
CHARACTERS = 6000


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> Note:  # noqa: ARG001
    """The text of every failing case of the newest attempt, newest frames kept."""
    newest = attempts[-1]
    if newest.finding:
        where = f" (line {newest.finding.line})" if newest.finding.line else ""
        return Note(text=f"{newest.finding.error_class}: {newest.finding.message}{where}")
    return Note(text=rendered(newest.verdict))


def rendered(verdict: Verdict) -> str:
    pieces = [verdict.reason[-CHARACTERS:]] if verdict.reason else []
    for case in (*verdict.cases, *verdict.collateral):
        if case.failure:
            rows = case.failure.text[-CHARACTERS:].strip("\n").split("\n")
            pieces.append(f"{case.id}\n" + "\n".join(rows[-LINES:]))
    return "\n\n".join(pieces)
