"""One call explains the failure, the next call fixes it.

Explain, then refine: LeDex (Training LLMs to Better Self-Debug and Explain Code, arXiv 2405.18649), and the
explanation feedback of Self-Debug (arXiv 2304.05128).
"""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.nouns import Attempt, Note, Problem, Role
from greenloop.core.ports import Tools
from greenloop.feedback._cases import listed
from greenloop.feedback._critic import with_failures, words, worth_asking
from greenloop.feedback._findings import told
from greenloop.feedback._question import ask, code_of

TOKENS = 160  # of the explanation


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> Note:
    """The failing cases and why they fail, in the critic's words; the field `explanation` holds those alone."""
    failures = told(problem, attempts, listed)
    if not worth_asking(attempts):
        return Note(text=failures)
    code = code_of(problem, attempts[-1])
    reply = await ask(tools, Role.CRITIC, "explain", tokens=TOKENS, code=code, failures=failures)
    return with_failures(failures, "Why it fails", words(reply), reply)
