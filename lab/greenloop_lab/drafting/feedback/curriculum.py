"""The failing cases in the order of a curriculum, easiest first, with one to make pass next.

After the curriculum prompting of "Code-Driven Planning in Grid Worlds" (arXiv 2505.10749), whose tasks grow harder. A
case is easier the more attempts passed it; of equals, the one whose assertion is shorter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from greenloop.core.ports import Tools
from greenloop.core.records.attempt import Attempt, FeedbackNote
from greenloop.core.records.problem import Problem
from greenloop.drafting.feedback._rejected_answers import describe_newest
from greenloop.drafting.feedback.cases import failing_rows, list_cases
from greenloop_sandbox import CaseResult

LATER = 4  # harder cases that are listed


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> FeedbackNote:  # noqa: ARG001
    """The easiest failing case with what came out instead, then the next ones; the field `order` has their ids."""
    newest = attempts[-1]
    order = order_cases(problem, attempts)
    text = describe_newest(problem, attempts, lambda problem, attempt: _list_in_order(problem, attempt, attempts))
    return FeedbackNote(text=text, fields={} if newest.finding else {"order": tuple(case.id for case in order)})


def order_cases(problem: Problem, attempts: Sequence[Attempt]) -> list[CaseResult]:
    """The failing cases of the newest attempt, those that the most attempts passed first."""
    passes = Counter(case.id for attempt in attempts for case in attempt.verdict.cases if case.passed)
    failing = [case for case in attempts[-1].verdict.cases if not case.passed]
    return sorted(failing, key=lambda case: (-passes[case.id], len(_row(problem, attempts[-1], case))))


def _list_in_order(problem: Problem, attempt: Attempt, attempts: Sequence[Attempt]) -> str:
    """The passing cases as `cases` lists them, then the failing ones as a list of steps."""
    order = order_cases(problem, [*attempts[:-1], attempt])
    if not order:
        return list_cases(problem, attempt)
    passing = replace(attempt.verdict, cases=tuple(case for case in attempt.verdict.cases if case.passed))
    known = list_cases(problem, replace(attempt, verdict=passing))
    rows = list(dict.fromkeys(_row(problem, attempt, case) for case in order))
    later = rows[1 : 1 + LATER]
    hidden = len(rows) - 1 - len(later)
    pieces = [known, "First make this one pass:", rows[0]]
    pieces += ["Then these, easiest first:", *later] if later else []
    return "\n".join([*filter(None, pieces), *([f"and {hidden} more"] if hidden else [])])


def _row(problem: Problem, attempt: Attempt, case: CaseResult) -> str:
    verdict = replace(attempt.verdict, cases=(case,), collateral=())
    return failing_rows(problem, replace(attempt, verdict=verdict))[0]
