"""Has a critic explain the failure before the next draft fixes it.

After LeDex ("Training LLMs to Better Self-Debug and Explain Code", arXiv 2405.18649) and the explanation feedback of
Self-Debug (arXiv 2304.05128).
"""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.ports import Tools
from greenloop.core.records.attempt import Attempt, FeedbackNote
from greenloop.core.records.problem import Problem
from greenloop.drafting.feedback._critic import ask
from greenloop.drafting.feedback._rejected_answers import describe_newest
from greenloop.drafting.feedback.cases import list_cases
from greenloop_lab.drafting.feedback._critic import as_paragraph, worth_asking

TOKENS = 160  # of the explanation


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> FeedbackNote:
    """The failing cases and the critic's explanation; the field `explanation` holds the latter alone."""
    failures = describe_newest(problem, attempts, list_cases)
    if not worth_asking(attempts):
        return FeedbackNote(text=failures)
    reply = await ask(problem, attempts[-1], tools, "explain", tokens=TOKENS, failures=failures)
    if not (explanation := as_paragraph(reply)):
        return FeedbackNote(text=failures, usage=reply.usage)
    text = f"{failures}\n\nWhy it fails: {explanation}"
    return FeedbackNote(text=text, fields={"explanation": explanation}, usage=reply.usage)
