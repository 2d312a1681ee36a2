"""Reads checks in prose: `assert` lines and comparisons.

A statement counts when it parses, calls the function under test, and uses no unknown name. Assignments above it in the
same block are included where it needs them.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from textwrap import dedent

from greenloop.core import generated_tests
from greenloop.core.python.ast_source import parse_module
from greenloop.plugins.function_calls import literals
from greenloop.plugins.stated_examples.call_lines import (
    DocumentedFunction,
    Requirement,
    find_plain_call,
)
from greenloop.plugins.stated_examples.equations import is_governed

ROWS = 8  # maximum of one statement
BLOCK = 30  # rows above a statement that may belong to it
_STARTS = re.compile(r"[\s\-*\u2022>]*`*(?=(?:assert\b|with\s+(?:pytest\.)?raises\())")
_BULLET = r"[\s\-*\u2022>]*(?:\d+[.)]\s+)?"
_ROW = re.compile(rf"{_BULLET}(?:\w*\s?examples?:|e\.g\.,?)?[\s`]*(?P<code>\S.*?)[`\s.,;]*$", re.IGNORECASE)
_RAISES = re.compile(r"\bwith raises\(")
_PLAIN = (ast.Assign, ast.AnnAssign, ast.Import, ast.ImportFrom, ast.Assert)


def find_asserts(rows: Sequence[str], subject: DocumentedFunction) -> Iterator[Requirement]:
    """Yields each `assert` and `with pytest.raises(...)` statement of a text."""
    at = 0
    while at < len(rows):
        match = _STARTS.match(rows[at])
        size, code = _statement(rows, at, match.end()) if match else (1, "")
        if code and not is_governed(rows, at) and (statement := _checked_statement(rows, at, code, subject)):
            yield statement
        at += size


def _statement(rows: Sequence[str], at: int, margin: int) -> tuple[int, str]:
    """Number of rows and source of the statement that begins at a row; "" where it cannot be parsed."""
    taken: list[str] = []
    for row in rows[at : at + ROWS]:
        below = f"    {row}" if not at else row  # the first row of a docstring has lost its indentation
        taken.append(row[margin:] if not taken else below[margin:] if not below[:margin].strip() else below.lstrip())
        for code in dict.fromkeys(("\n".join(taken), "\n".join(taken).rstrip("`. "))):
            tree = parse_module(code)
            if isinstance(tree, ast.Module) and len(tree.body) == 1:
                return len(taken), code
    return 1, ""


def _checked_statement(rows: Sequence[str], at: int, code: str, subject: DocumentedFunction) -> Requirement | None:
    allowed_names = {subject.name, *subject.exceptions}
    for body in (code, f"{_setup_above(rows, at)}\n{code}"):
        tree = parse_module(body)
        if (
            isinstance(tree, ast.Module)
            and subject.is_called_in(tree)
            and not literals.unknown_names(tree, allowed_names)
        ):
            return _requirement_from_code(at, body.lstrip("\n"), code, subject)
    return None


def _setup_above(rows: Sequence[str], at: int) -> str:
    """Source of the assignments and imports above a row in its block; "" where none can be parsed."""
    for start in range(max(at - BLOCK, 0), at):
        if not rows[start].strip():
            continue
        tree = parse_module(dedent("\n".join(rows[start:at])))
        if isinstance(tree, ast.Module) and tree.body and all(isinstance(node, _PLAIN) for node in tree.body):
            kept = [node for node in tree.body if not isinstance(node, ast.Assert) and _is_plain(node)]
            return "\n".join(ast.unparse(node) for node in kept)
    return ""


def _is_plain(node: ast.stmt) -> bool:
    """Does it import nothing outside the standard library? The function under test is imported anyway."""
    if isinstance(node, ast.ImportFrom):
        return not node.level and (node.module or "").partition(".")[0] in sys.stdlib_module_names
    if isinstance(node, ast.Import):
        return all(alias.name.partition(".")[0] in sys.stdlib_module_names for alias in node.names)
    return True


def _requirement_from_code(row: int, body: str, shown: str, subject: DocumentedFunction) -> Requirement:
    body, shown = (_RAISES.sub("with pytest.raises(", text) for text in (body, shown))
    equation = generated_tests.parse_equation(shown)
    call = literals.parse_expression(equation.call) if equation else None
    call_equation = equation if find_plain_call(call, subject) else None
    return Requirement(
        row=row,
        body=body,
        shown=" ".join(ast.unparse(ast.parse(shown)).split("\n    ")) if "\n" in shown else shown,
        call=ast.unparse(call) if call and call_equation else "",
        expected=call_equation.expected if call_equation else "",
        raises=call_equation.raises if call_equation else "",
        imports=literals.required_imports(ast.parse(body)),
    )


def find_comparisons(rows: Sequence[str], subject: DocumentedFunction) -> Iterator[Requirement]:
    """Yields rows that compare by `==` and are more than one call and its value: `len(f(2)) == 3`, `f(2) == f(-2)`."""
    for at, row in enumerate(rows):
        match = _ROW.match(row) if subject.name in row and "==" in row else None
        node = literals.parse_expression(match["code"]) if match else None
        if not isinstance(node, ast.Compare) or len(node.ops) > 1 or not isinstance(node.ops[0], ast.Eq):
            continue
        if find_plain_call(node.left, subject) and literals.is_value(node.comparators[0]):
            continue  # a plain equation
        if (
            subject.is_called_in(node)
            and not literals.unknown_names(node, {subject.name})
            and not is_governed(rows, at)
        ):
            code = f"assert {ast.unparse(node)}"
            yield _requirement_from_code(at, code, code, subject)
