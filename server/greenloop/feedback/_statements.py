"""The lines that a failure is about: the test's own statement, and the candidate's line that raised."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Mapping, Sequence

from greenloop.core.compose import compose
from greenloop.core.diff import flat
from greenloop.core.nouns import Attempt, CaseResult, Failure, Frame, Problem
from greenloop.core.source import FUNCTIONS, tree

ROWS = 5  # of one statement
TEXT = 20_000  # characters of a runner's text that are looked at
_PROMPTS = (">>>", "...")

Sources = Mapping[str, str]


def sources(problem: Problem, attempt: Attempt) -> dict[str, str]:
    """Every known text as it was when the attempt ran."""
    texts = {path: text for path, text in problem.originals.items() if text is not None}
    texts |= {**problem.files, **problem.spec.files}
    if attempt.candidate:
        texts |= compose(problem, attempt.candidate)
    return {path: flat(text) for path, text in texts.items()}


def asserted(problem: Problem, case: CaseResult, texts: Sources) -> str:
    """What the test said when it failed, such as `assert f(1) == 2`; "" where nobody knows."""
    if case.failure is None:
        return ""
    frame = _test_frame(problem, case)
    found = statement(texts[frame.path], frame.line) if frame and frame.path in texts else ""
    return found or _printed(case.failure)


def raised(problem: Problem, failure: Failure, texts: Sources) -> str:
    """The candidate's innermost line in the traceback, without its margin."""
    paths = {region.path for region in problem.regions}
    names = {region.qualname.split(".")[-1] for region in problem.regions}
    inside = [frame for frame in failure.frames if frame.path in paths and frame.path in texts]
    own = [frame for frame in inside if frame.function.split(".")[-1] in names] or inside
    if not own:
        return ""
    rows = texts[own[-1].path].split("\n")
    return rows[own[-1].line - 1].strip() if own[-1].line <= len(rows) else ""


def first_statement(text: str, line: int) -> str:
    """The one statement of the test function at this line; "" where it has several, or a doctest's example."""
    found = tree(text)
    if isinstance(found, SyntaxError):
        return ""
    for node in ast.walk(found):
        if isinstance(node, FUNCTIONS) and node.lineno <= line <= (node.end_lineno or 0):
            starts = (node.lineno, *(item.lineno for item in node.decorator_list))
            if line in starts:
                return _source(text, node.body[0]) if len(node.body) == 1 else ""
    return _example(text.split("\n"), line)


def statement(text: str, line: int) -> str:
    """The innermost statement, or a doctest's example, on this line."""
    if example := _example(text.split("\n"), line):
        return example
    found = tree(text)
    if isinstance(found, SyntaxError):
        return ""
    around = [
        node
        for node in ast.walk(found)
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    return _source(text, max(around, key=lambda node: node.lineno)) if around else ""


def _source(text: str, node: ast.stmt) -> str:
    rows = text.split("\n")[node.lineno - 1 : node.end_lineno]
    shown = "\n".join(rows[:ROWS])
    return textwrap.dedent(shown).strip() + (" …" if len(rows) > ROWS else "")


def _example(rows: Sequence[str], line: int) -> str:
    if not 0 < line <= len(rows) or not rows[line - 1].lstrip().startswith(_PROMPTS):
        return ""
    mine = [rows[line - 1]]
    for row in rows[line : line + ROWS]:
        if not row.lstrip().startswith("..."):
            break
        mine.append(row)
    return "\n".join(row.lstrip()[4:] for row in mine)


def _test_frame(problem: Problem, case: CaseResult) -> Frame | None:
    """The innermost frame of the test before it calls the candidate: the test itself or its helper."""
    path = case.id.split("::", 1)[0]
    names = {region.qualname.split(".")[-1] for region in problem.regions}
    found = None
    for frame in case.failure.frames if case.failure else ():
        if frame.path != path or (found and frame.function.split(".")[-1] in names):
            break
        found = frame
    return found


def _printed(failure: Failure) -> str:
    """The failing statement as pytest printed it, behind its `>`."""
    rows: list[str] = []
    for row in failure.text[:TEXT].split("\n"):
        if row.startswith(">") and not rows:
            rows.append(row[1:].strip())
        elif rows:
            if len(rows) == ROWS or not row.strip(" ^") or row.startswith("E"):
                break
            rows.append(row.strip())
    return " ".join(rows)
