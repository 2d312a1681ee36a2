"""SLPW, the sampling variant of LPW (arXiv 2411.14503): several verified plans, tried one after the other."""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.ports import Tools
from greenloop.core.records.attempt import Attempt, FeedbackNote
from greenloop.core.records.problem import Problem
from greenloop_lab.drafting.feedback import lpw

TEMPERATURES = (0.0, 0.6, 0.9)  # one plan each


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> FeedbackNote:
    """As `lpw`, with a plan for each temperature; the search part `planned` goes on to the next when one is stuck."""
    return await lpw.describe_with_plans(problem, attempts, tools, temperatures=TEMPERATURES)
