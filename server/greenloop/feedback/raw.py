"""The runner's own words: exception, traceback and assertion of each failing case (the published loop)."""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.nouns import Attempt, Note, Problem
from greenloop.core.ports import Tools
from greenloop.feedback._findings import told
from greenloop.feedback._raw import rendered


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> Note:  # noqa: ARG001
    """The text of every failing case of the newest attempt, newest frames kept."""
    return Note(text=told(problem, attempts, rendered))
