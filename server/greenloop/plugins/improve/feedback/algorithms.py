"""Asks a planner for algorithms that cost less, for the search part `algorithms`.

The planner may be another model than the one that writes the code (PerfCoder, arXiv 2512.14018). Its answer is the
field `algorithms` of the note on the user's own code; attempts are described by another part.
"""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.ports import Tools
from greenloop.core.records.attempt import Attempt, FeedbackNote
from greenloop.core.records.model import Role
from greenloop.core.records.problem import Problem
from greenloop.drafting.feedback._critic import ask, list_items
from greenloop.drafting.feedback.cases import list_cases

ALGORITHMS = 3  # without a setting
TOKENS = 240


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> FeedbackNote:
    """Algorithms with their complexity for the user's own code; nothing for any other attempt."""
    newest = attempts[-1]
    if newest.number:
        return FeedbackNote(text="")
    most = int(tools.options.get("improve.algorithms", ALGORITHMS))
    reply = await ask(
        problem,
        newest,
        tools,
        "algorithms",
        tokens=TOKENS,
        role=Role.PLANNER,
        instruction=problem.instruction,
        failure=list_cases(problem, newest),
        most=str(most),
    )
    return FeedbackNote(text="", fields={"algorithms": list_items(reply.text, most)}, usage=reply.usage)
