"""Finds the lines of a failure: the test's statement, and the candidate's line that raised."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Mapping, Sequence

from greenloop.core.compose import compose
from greenloop.core.python.ast_source import FUNCTIONS, parse_module
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.problem import Problem
from greenloop.core.text.diff import with_plain_ends
from greenloop_sandbox import CaseResult, Failure, Frame

ROWS = 5  # lines shown of one statement
TEXT = 20_000  # characters of the runner's text that are searched
_PROMPTS = (">>>", "...")

Sources = Mapping[str, str]


def attempt_sources(problem: Problem, attempt: Attempt) -> dict[str, str]:
    """Every known file as it was when the attempt ran, with line feeds only."""
    texts = {path: text for path, text in problem.originals.items() if text is not None}
    texts |= {**problem.files, **problem.spec.files}
    if attempt.candidate:
        texts |= compose(problem, attempt.candidate)
    return {path: with_plain_ends(text) for path, text in texts.items()}


def failed_statement(problem: Problem, case: CaseResult, texts: Sources) -> str:
    """The test's statement that failed, such as `assert f(1) == 2`; "" where it is unknown."""
    if case.failure is None:
        return ""
    frame = _test_frame(problem, case)
    source = statement(texts[frame.path], frame.line) if frame and frame.path in texts else ""
    return source or _failing_statement(case.failure)


def raising_line(problem: Problem, failure: Failure, texts: Sources) -> str:
    """The candidate's innermost line in the traceback, without indentation."""
    paths = {region.path for region in problem.regions}
    names = {region.qualname.split(".")[-1] for region in problem.regions}
    inside = [frame for frame in failure.frames if frame.path in paths and frame.path in texts]
    own = [frame for frame in inside if frame.function.split(".")[-1] in names] or inside
    if not own:
        return ""
    rows = texts[own[-1].path].split("\n")
    return rows[own[-1].line - 1].strip() if own[-1].line <= len(rows) else ""


def first_statement(text: str, line: int) -> str:
    """The only statement of the test function at this line ("" if it has several), or the doctest example there."""
    module = parse_module(text)
    if isinstance(module, SyntaxError):
        return ""
    for node in ast.walk(module):
        if isinstance(node, FUNCTIONS) and node.lineno <= line <= (node.end_lineno or 0):
            first_lines = (node.lineno, *(item.lineno for item in node.decorator_list))
            if line in first_lines:
                return _source(text, node.body[0]) if len(node.body) == 1 else ""
    return _example(text.split("\n"), line)


def statement(text: str, line: int) -> str:
    """The doctest example, or else the innermost statement, on this line."""
    if example := _example(text.split("\n"), line):
        return example
    module = parse_module(text)
    if isinstance(module, SyntaxError):
        return ""
    enclosing = [
        node
        for node in ast.walk(module)
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    return _source(text, max(enclosing, key=lambda node: node.lineno)) if enclosing else ""


def _source(text: str, node: ast.stmt) -> str:
    rows = text.split("\n")[node.lineno - 1 : node.end_lineno]
    shown = "\n".join(rows[:ROWS])
    return textwrap.dedent(shown).strip() + (" …" if len(rows) > ROWS else "")


def _example(rows: Sequence[str], line: int) -> str:
    if not 0 < line <= len(rows) or not rows[line - 1].lstrip().startswith(_PROMPTS):
        return ""
    lines = [rows[line - 1]]
    for row in rows[line : line + ROWS]:
        if not row.lstrip().startswith("..."):
            break
        lines.append(row)
    return "\n".join(row.lstrip()[4:] for row in lines)


def _test_frame(problem: Problem, case: CaseResult) -> Frame | None:
    """The innermost frame before the test calls the candidate: the test itself or its helper."""
    path = case.id.split("::", 1)[0]
    names = {region.qualname.split(".")[-1] for region in problem.regions}
    innermost = None
    for frame in case.failure.frames if case.failure else ():
        if frame.path != path or (innermost and frame.function.split(".")[-1] in names):
            break
        innermost = frame
    return innermost


def _failing_statement(failure: Failure) -> str:
    """The failing statement as pytest printed it, after its `>`."""
    rows: list[str] = []
    for row in failure.text[:TEXT].split("\n"):
        if row.startswith(">") and not rows:
            rows.append(row[1:].strip())
        elif rows:
            if len(rows) == ROWS or not row.strip(" ^") or row.startswith("E"):
                break
            rows.append(row.strip())
    return " ".join(rows)
