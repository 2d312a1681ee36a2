"""The runner's own output for each failing case, as in the published loop."""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.ports import Tools
from greenloop.core.records.attempt import Attempt, FeedbackNote
from greenloop.core.records.problem import Problem
from greenloop.drafting.feedback._raw import render_output
from greenloop.drafting.feedback._rejected_answers import describe_newest


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> FeedbackNote:  # noqa: ARG001
    """Exception, traceback and assertion of every failing case of the newest attempt; the ends of long ones."""
    return FeedbackNote(text=describe_newest(problem, attempts, render_output))
