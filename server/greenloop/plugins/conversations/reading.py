"""Reads an answer of the conversation into an attempt: its candidate, or why there is none.

It must not know how the answer came about, nor whether the candidate passes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import replace

from greenloop.core.compose import before_after
from greenloop.core.election import base_of_turns
from greenloop.core.python.ast_source import statements_of
from greenloop.core.records.attempt import Attempt, Candidate, FeedbackNote, Finding
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region
from greenloop.core.summary import CANNOT
from greenloop.drafting.candidates.answers.changed_regions import with_file
from greenloop.drafting.candidates.answers.imports_and_helpers import add_missing_imports
from greenloop.engine.loop.candidate_runs import with_finding
from greenloop.plugins.conversations import file_edits
from greenloop.plugins.conversations.clean_edit import find_blemishes
from greenloop.plugins.conversations.messages import turns

OUTSIDE = "NotEditable"
_CANNOT = re.compile(r"^[ \t*`>#-]*CANNOT:[ \t*`]*(\S.*)", re.MULTILINE)


def read_turn(
    blank: Attempt, problem: Problem, attempts: Sequence[Attempt], files: file_edits.EditedFiles, *, truncated: bool
) -> tuple[Attempt, Problem]:
    """Returns the attempt of a turn's answer (`blank` without it), and the problem with every file that it changes."""
    base = base_of_turns(attempts).candidate
    newest = next((each.candidate for each in reversed(turns(attempts)) if each.candidate), None)
    # If they are not in the files that it may edit, it may mean those of its newest answer.
    bases = [base] if base is newest else [base, newest]
    reading = file_edits.read(blank.answer, problem, files, bases=bases, truncated=truncated)
    if reading.left_out:
        blank = replace(blank, notes=(FeedbackNote(text="", fields={"left_out": list(reading.left_out)}),))
    if reading.candidate is None:
        assert reading.finding is not None
        given_up = _CANNOT.search(blank.answer)
        if given_up and not truncated:
            return with_finding(blank, Finding(error_class=CANNOT, message=given_up[1].strip())), problem
        return with_finding(blank, reading.finding), problem
    candidate = reading.candidate
    for path in dict.fromkeys(region.path for region in candidate.texts):
        problem = with_file(problem, path, files.text_of(path))
    if problem.exact and (finding := _outside(problem, candidate)):
        return with_finding(blank, finding), problem
    candidate = add_missing_imports(problem, candidate)
    before, after = before_after(problem, candidate)
    return replace(blank, candidate=candidate, blemishes=find_blemishes(before, after)), problem


def _outside(problem: Problem, candidate: Candidate) -> Finding | None:
    """A finding for a change of something else than the one function that may change, but for what it imports."""
    allowed = {(region.path, region.qualname) for region in problem.regions}
    others = [
        region
        for region, text in candidate.texts.items()
        if (region.path, region.qualname) not in allowed and not _adds_imports(region, text)
    ]
    if not others:
        return None
    message = f"Only `{problem.names}` may change (the setting `regions` is 1), not {others[0].label}."
    return Finding(error_class=OUTSIDE, message=message)


def _adds_imports(region: Region, text: str) -> bool:
    added = statements_of(text)
    is_inserted = not region.qualname and region.end < region.start
    return is_inserted and bool(added) and all(isinstance(each, ast.Import | ast.ImportFrom) for each in added)
