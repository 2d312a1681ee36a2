"""Finds the assertions of a test that have to run when it passes: a pass without them says nothing.

Code under test can keep them from running, by a loop over nothing, or from failing the test, by the end of a `with`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from greenloop.verdict.executed_statements import find_tests, may_leave

Lines = tuple[int, int]  # first and last line of one assertion

_EXPECTS_ERROR = re.compile(r"(pytest\.)?(raises|warns|deprecated_call)|self\.(assertRaises|assertWarns|subTest)\w*")


def assertion_lines(text: str) -> Mapping[str, Sequence[Lines]]:
    """The lines of each test's assertions by the test's name (`test_a`, `TestC::test_b`); empty for a broken text.

    Not those under a condition, nor those whose failure the test itself expects or handles.
    """
    try:
        tests, _unclear = find_tests(ast.parse(text.removeprefix("\ufeff")))
    except (SyntaxError, ValueError):
        return {}
    return {
        name: [(node.lineno, node.end_lineno or node.lineno) for node in _walk(test.body)]
        for name, test in tests.items()
    }


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
