"""All cases with their outcome: the assertions that hold, and those that fail with the value they got instead.

The format is Reflexion's ("Tests passed: … Tests failed: assert f(1) == 2 # output: 3"), which is also Self-Debug's
"unit test" feedback. It is short, for a small model reads slowly: values are cut, passing cases are named only.
"""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.nouns import Attempt, Note, Problem
from greenloop.core.ports import Tools
from greenloop.feedback._cases import listed
from greenloop.feedback._findings import told


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> Note:  # noqa: ARG001
    """The newest attempt's cases, failing ones with their actual values."""
    return Note(text=told(problem, attempts, listed))
