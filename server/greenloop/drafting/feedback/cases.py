"""Lists all cases: the assertions that hold, and those that fail with the value they got instead.

The format is Reflexion's ("Tests passed: … Tests failed: assert f(1) == 2 # output: 3"), which is also Self-Debug's
"unit test" feedback. It is short, since small models read slowly: values are cut, passing cases are only named.
"""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.ports import Tools
from greenloop.core.records.attempt import Attempt, FeedbackNote
from greenloop.core.records.problem import Problem
from greenloop.drafting.feedback._case_rows import list_cases
from greenloop.drafting.feedback._rejected_answers import describe_newest


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> FeedbackNote:  # noqa: ARG001
    """The newest attempt's cases, failing ones with the values they got."""
    return FeedbackNote(text=describe_newest(problem, attempts, list_cases))
