"""Recognises an answer, while it is written, that repeats the user's function."""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.compose import region_text
from greenloop.core.python.ast_source import FUNCTIONS, Fragment, docstring_statement, parse_fragment
from greenloop.core.python.stubs import is_unwritten
from greenloop.core.records.problem import Problem
from greenloop.core.text.diff import with_plain_ends

SUSPICIOUS = 0.75  # of the highest suspicion; lines that every case runs stay below that


def is_copy(problem: Problem, text: str) -> bool:
    """Has the answer so far repeated the one function it is about, beyond the function's last suspicious line?

    Spaces, comments and a docstring that is left out make no difference. What is yet to be written has nothing to
    repeat: its header and docstring begin every answer. Where something else stands above it than in the user's file,
    such as another value of a table, that may be the correction.
    """
    if (
        len(problem.regions) != 1
        or problem.regions[0].created
        or is_unwritten(region_text(problem, problem.regions[0]))
    ):
        return False
    _before, fence, code = with_plain_ends(text).partition("```")
    answer = _significant(code.split("\n")[1:-1]) if fence else []
    for rows, needed in _expected(problem):
        if needed and _begins_with(answer, rows[:needed]):
            above = [row for row in answer[: answer.index(rows[0])] if not row.startswith(("import", "from"))]
            user = with_plain_ends(problem.files[problem.regions[0].path]) if above else ""
            return {*above} <= {*_significant(user.split("\n"))}
    return False


def _begins_with(answer: Sequence[str], rows: Sequence[str]) -> bool:
    """Does the answer have these rows, from the line on that is equal to the first of them?"""
    if rows[0] not in answer:
        return False
    start = answer.index(rows[0])
    return list(answer[start : start + len(rows)]) == list(rows)


def _expected(problem: Problem) -> list[tuple[list[str], int]]:
    """The function's rows with and without its docstring, each with how many lead to the last suspicious one."""
    region = problem.regions[0]
    lines = with_plain_ends(region_text(problem, region)).rstrip("\n").split("\n")
    parsed = parse_fragment("\n".join(lines))
    if not isinstance(parsed, Fragment):
        return []
    document = next((docstring_statement(node) for node in parsed.body if isinstance(node, FUNCTIONS)), None)
    scores = problem.suspicion.get(region.path, {})
    by_line = [scores.get(region.start + index, 0.0) for index in range(len(lines))]
    least = SUSPICIOUS * max(by_line, default=0.0)
    last = max((index for index, score in enumerate(by_line) if score >= least), default=0)
    result = [(_significant(lines), len(_significant(lines[: last + 1])))]
    if document is not None:
        start, end = document.lineno - parsed.shift - 1, (document.end_lineno or document.lineno) - parsed.shift
        bare = [*lines[:start], *lines[end:]]
        bare_last = lines[: last + 1] if last < start else [*lines[:start], *lines[end : last + 1]]
        result.append((_significant(bare), len(_significant(bare_last))))
    return result


def _significant(lines: Sequence[str]) -> list[str]:
    """The lines without spaces; empty ones and comments are left out."""
    squeezed = ("".join(line.split()) for line in lines)
    return [line for line in squeezed if line and not line.startswith("#")]
