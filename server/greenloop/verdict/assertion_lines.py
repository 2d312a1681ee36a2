"""Finds the assertions of a test that have to run when it passes: a pass without them says nothing.

Code under test can keep them from running, by a loop over nothing, or from failing the test, by the end of a `with`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from greenloop.core.python.ast_source import UNPARSABLE, parse_module_strictly
from greenloop.verdict.executed_statements import find_tests, may_leave

Lines = tuple[int, int]  # first and last line of one assertion

_EXPECTS_ERROR = re.compile(r"(pytest\.)?(raises|warns|deprecated_call)|self\.(assertRaises|assertWarns|subTest)\w*")
# Words in what a `with` or a decorator calls, where an error may be wanted, kept for later or tried again.
_EXPECTS_SOME_ERROR = re.compile(
    r"rais|warns|deprecated|subTest|suppress|expect|fail|soft|check|assum|allow|ignor|catch|retr|rerun|flaky|given",
    re.IGNORECASE,
)


def assertion_lines(text: str) -> Mapping[str, Sequence[Lines]]:
    """The lines of each test's assertions by the test's name (`test_a`, `TestC::test_b`); empty for a broken text.

    Not those under a condition, nor those whose failure the test itself expects or handles.
    """
    try:
        tests, _unclear = find_tests(parse_module_strictly(text.removeprefix("\ufeff")))
    except UNPARSABLE:
        return {}
    return {name: [_lines(node) for node in _walk(test.body)] for name, test in tests.items()}


def helper_lines(text: str) -> Sequence[tuple[Lines, Sequence[Lines]]]:
    """For each function that is no test and asserts something: the lines of its first statement, and its assertions."""
    try:
        tree = parse_module_strictly(text.removeprefix("\ufeff"))
    except UNPARSABLE:
        return ()
    tests = {id(test) for test in find_tests(tree)[0].values()}
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or id(node) in tests:
            continue
        body = [statement for statement in node.body if not _is_text(statement)]
        if body and (assertions := [_lines(statement) for statement in _walk(body)]):
            found.append((_lines(body[0]), assertions))
    return found


def strict_lines(text: str) -> set[int]:
    """The lines of a test file where it neither expects nor handles an error: no AssertionError may be lost there."""
    try:
        tree = parse_module_strictly(text.removeprefix("\ufeff"))
    except UNPARSABLE:
        return set()
    lenient: set[int] = set()
    strict: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            strict.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        if isinstance(node, ast.stmt | ast.expr) and _may_lose_errors(node):
            lenient.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return strict - lenient


def _may_lose_errors(node: ast.AST) -> bool:
    match node:
        case ast.Try():
            return bool(node.handlers)
        case ast.With() | ast.AsyncWith():
            return any(_EXPECTS_SOME_ERROR.search(ast.unparse(item.context_expr)) for item in node.items)
        case ast.Call():
            return _EXPECTS_ERROR.fullmatch(ast.unparse(node.func)) is not None
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            decorators = " ".join(map(ast.unparse, node.decorator_list))
            return _EXPECTS_SOME_ERROR.search(decorators) is not None
    return type(node).__name__ == "TryStar"


def _lines(statement: ast.stmt) -> Lines:
    return statement.lineno, statement.end_lineno or statement.lineno


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _walk(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        if _is_assertion(statement):
            yield statement
        elif isinstance(statement, ast.For | ast.AsyncFor | ast.While):
            yield from _walk(statement.body)
        elif isinstance(statement, ast.With | ast.AsyncWith):
            if not any(_expects_error(item) for item in statement.items):
                yield from _walk(statement.body)
        elif isinstance(statement, ast.Try) and not statement.handlers:
            yield from _walk(statement.body)
        if may_leave(statement):
            return


def _is_assertion(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Assert):
        return True
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr.startswith("assert")


def _expects_error(item: ast.withitem) -> bool:
    call = item.context_expr
    return isinstance(call, ast.Call) and _EXPECTS_ERROR.fullmatch(ast.unparse(call.func)) is not None
