"""Asks for the user's approval: shows a candidate that passes everything else.

The reason for a rejection becomes the failing case's message, so the next attempt gets it like a failing test.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from functools import partial

from greenloop.core.ports import User
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Provenance, Spec
from greenloop.core.records.verdict import Verdict
from greenloop.core.requirements import Requirement, Ruling, Start, Trial, name_line, region_case
from greenloop.core.text.diff import with_plain_ends
from greenloop_sandbox import CaseResult, Failure, Frame

TYPE = "Rejected"
NAME = "human"  # the last part of the case's id
ACCEPT = "Accept"
REJECT = "Say what is wrong"
ROWS = 30  # rows of the shown change
WIDE = 120  # characters of one row
LONGEST = 2000  # characters of the user's comment that are kept


async def begin(start: Start) -> Requirement:
    """One case: the user accepts the candidate."""
    problem = start.problem
    case = region_case(problem, problem.regions[0], NAME, Provenance.HUMAN, "you accept it")
    return Requirement(name="human", spec=Spec(cases=(case,)), judge=partial(_judge, start.tools.user), asks_user=True)


async def _judge(user: User, trial: Trial, _everything: Verdict) -> Ruling:
    """Passed, failed with the user's comment, or skipped where the user did not answer."""
    problem, region = trial.problem, trial.problem.regions[0]
    names = ", ".join(f"`{each.qualname}`" for each in problem.regions)
    question = (
        f"This change of {names} passes everything else. Do you accept it?\n\n{format_change(problem, trial.files)}"
    )
    answer = await user.choose(question, (ACCEPT, REJECT))
    if answer in (ACCEPT, None):
        return Ruling(results=[CaseResult(id=_case_id(problem), outcome="passed" if answer else "skipped")])
    comment = await user.correct("What is wrong with it?", "")
    message = " ".join((comment or "").split())[:LONGEST] or "The user did not accept it and did not say why."
    frame = Frame(path=region.path, line=name_line(problem, region), function=region.qualname)
    failure = Failure(type=TYPE, message=message, frames=(frame,), text=f"The user says: {message}")
    return Ruling(results=[CaseResult(id=_case_id(problem), outcome="failed", failure=failure)])


def format_change(problem: Problem, files: Mapping[str, str]) -> str:
    """The change as rows that begin with `-` and `+`; the rest is only counted."""
    rows: list[str] = []
    for path, text in files.items():
        original = problem.originals.get(path) or ""
        diff_rows = list(
            difflib.unified_diff(
                with_plain_ends(original).split("\n"), with_plain_ends(text).split("\n"), lineterm="", n=1
            )
        )[2:]
        rows += [path, *diff_rows] if len(files) > 1 else diff_rows
    hidden_count = len(rows) - ROWS
    shortened = [row if len(row) <= WIDE else f"{row[: WIDE - 1]}…" for row in rows[:ROWS]]
    return "\n".join([*shortened, *([f"… and {hidden_count} more lines"] if hidden_count > 0 else [])])


def _case_id(problem: Problem) -> str:
    region = problem.regions[0]
    return f"{region.path}::{region.qualname}::{NAME}"
