"""A person's word: a candidate that passes all else is shown, and accepted or told what is wrong with it.

What is said becomes the failing case's message, so that the next attempt is told it as it is told of a failing test.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence

from greenloop.core.diff import flat
from greenloop.core.nouns import Case, CaseResult, Failure, Frame, Problem, Provenance, Spec
from greenloop.core.ports import Tools
from greenloop.core.subject import name_line

TYPE = "Rejected"
ACCEPT = "Accept"
REJECT = "Say what is wrong"
ROWS = 30  # of the shown change
WIDE = 120  # characters of one row
LONGEST = 2000  # characters that are kept of what was said


async def collect(problem: Problem, tools: Tools) -> Spec:
    """One case, that the user accepts the candidate, where `spec.human` is on."""
    if not tools.options.get("human"):
        return Spec()
    region = problem.regions[0]
    case = Case(
        id=_id(problem),
        path=region.path,
        line=name_line(problem, region),
        provenance=Provenance.HUMAN,
        confirmed=True,
        source="you accept it",
    )
    return Spec(cases=(case,))


async def judge(problem: Problem, files: Mapping[str, str], tools: Tools) -> Sequence[CaseResult]:
    """Passed, failed with what the user says, or skipped: nobody answered, so that nobody knows."""
    if not tools.options.get("human"):
        return ()
    region = problem.regions[0]
    names = ", ".join(f"`{each.qualname}`" for each in problem.regions)
    question = f"This change of {names} passes all else. Do you accept it?\n\n{shown(problem, files)}"
    answer = await tools.user.choose(question, (ACCEPT, REJECT))
    if answer == ACCEPT:
        return (CaseResult(id=_id(problem), outcome="passed"),)
    if answer is None:
        return (CaseResult(id=_id(problem), outcome="skipped"),)
    said = await tools.user.correct("What is wrong with it?", "")
    message = " ".join((said or "").split())[:LONGEST] or "The user did not accept it and did not say why."
    frame = Frame(path=region.path, line=name_line(problem, region), function=region.qualname)
    failure = Failure(type=TYPE, message=message, frames=(frame,), text=f"The user says: {message}")
    return (CaseResult(id=_id(problem), outcome="failed", failure=failure),)


def shown(problem: Problem, files: Mapping[str, str]) -> str:
    """The change, as rows that begin with `-` and `+`, the rest counted."""
    rows: list[str] = []
    for path, text in files.items():
        old = problem.originals.get(path) or ""
        told = list(difflib.unified_diff(flat(old).split("\n"), flat(text).split("\n"), lineterm="", n=1))[2:]
        rows += [path, *told] if len(files) > 1 else told
    rest = len(rows) - ROWS
    shortened = [row if len(row) <= WIDE else f"{row[: WIDE - 1]}…" for row in rows[:ROWS]]
    return "\n".join([*shortened, *([f"… and {rest} more lines"] if rest > 0 else [])])


def _id(problem: Problem) -> str:
    region = problem.regions[0]
    return f"{region.path}::{region.qualname}::human"
