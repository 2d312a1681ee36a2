"""Tells a model that takes over what other models tried before it: their changes, and how each failed.

It must not know why another model is asked now.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from greenloop.core.compose import before_after
from greenloop.core.election import CHEAP, is_valid, rank
from greenloop.core.records.attempt import Attempt, Move
from greenloop.core.records.problem import Problem
from greenloop.core.text.diff import diff_files
from greenloop.drafting.report.tracebacks import summarize_case
from greenloop.drafting.shown_attempts import fenced

MOST = 3  # changes that are shown, the best ones
MOST_CHARACTERS = 4_000  # of one
MOST_CASES = 3  # failing tests that are named of each


def describe_tried(problem: Problem, attempts: Sequence[Attempt]) -> str:
    """Returns a section of the report about the attempts before the first turn; "" where no model was asked."""
    before = takewhile(lambda attempt: attempt.draft is None or attempt.draft.move is not Move.TURN, attempts)
    asked = [each for each in before if each.draft and each.draft.move not in CHEAP and is_valid(each)]
    best = sorted(asked, key=lambda each: (rank(each), each.number))[-MOST:]
    parts = [part for attempt in sorted(best, key=lambda each: each.number) if (part := _describe(problem, attempt))]
    return "\n\n".join(["Another model tried this before you; none of it is kept:", *parts]) if parts else ""


def _describe(problem: Problem, attempt: Attempt) -> str:
    assert attempt.candidate is not None
    diff = diff_files(*before_after(problem, attempt.candidate))
    if not diff or len(diff) > MOST_CHARACTERS:
        return ""
    verdict = attempt.verdict
    failing = [case for case in verdict.cases if not case.passed] or verdict.collateral
    rows = [summarize_case(case) for case in failing[:MOST_CASES]]
    shown = fenced("\n".join(rows), "text") if rows else verdict.reason
    return f"{fenced(diff, 'diff')}\n{verdict.passed} of {verdict.total} tests pass with it.\n{shown}".strip()
