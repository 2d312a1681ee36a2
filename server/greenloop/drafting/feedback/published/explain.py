"""Has a critic explain the failure before the next draft fixes it.

After LeDex ("Training LLMs to Better Self-Debug and Explain Code", arXiv 2405.18649) and the explanation feedback of
Self-Debug (arXiv 2304.05128).
"""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.ports import Tools
from greenloop.core.records.attempt import Attempt, FeedbackNote
from greenloop.core.records.model import Role
from greenloop.core.records.problem import Problem
from greenloop.drafting.feedback._case_rows import list_cases
from greenloop.drafting.feedback._rejected_answers import describe_newest
from greenloop.drafting.feedback.published._critic import as_paragraph, with_failures, worth_asking
from greenloop.drafting.feedback.published._critic_prompt import ask, code_of

TOKENS = 160  # of the explanation


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> FeedbackNote:
    """The failing cases and the critic's explanation; the field `explanation` holds the latter alone."""
    failures = describe_newest(problem, attempts, list_cases)
    if not worth_asking(attempts):
        return FeedbackNote(text=failures)
    code = code_of(problem, attempts[-1])
    reply = await ask(tools, Role.CRITIC, "explain", tokens=TOKENS, code=code, failures=failures)
    return with_failures(failures, "Why it fails", as_paragraph(reply), reply)
