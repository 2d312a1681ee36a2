"""Finds the statements of a test that have certainly been executed to their end when the test has passed.

These are the statements at the top level of its body before any return, and those inside blocks that neither skip their
body nor swallow exceptions: `try` without `except`, and `with` of a few known context managers.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

Test = ast.FunctionDef | ast.AsyncFunctionDef

# Context managers that run their body once and let every exception through.
_TRANSPARENT = re.compile(
    r"(io\.|gzip\.|codecs\.|zipfile\.|tarfile\.)?open|(warnings\.)?catch_warnings|(contextlib\.)?nullcontext"
    r"|((unittest\.)?mock\.)?patch(\.object|\.dict|\.multiple)?|(mocker\.)?patch(\.object|\.dict)?"
    r"|(tempfile\.)?(TemporaryDirectory|NamedTemporaryFile|TemporaryFile)|monkeypatch\.context"
)
# A decorator with one of these words in its name may turn a failure into a pass, or a pass into a failure.
_INVERTING = re.compile(r"rais|fail|expect|assert|error|warn|rerun|retry|flaky", re.IGNORECASE)


def find_tests(tree: ast.Module) -> tuple[dict[str, Test], tuple[str, ...]]:
    """Returns the test functions by name (`test_a`, `TestC::test_b`), and the names whose meaning is unclear.

    Of two functions with one name the later one runs, unless a condition decides which; a decorator may change the
    meaning of a pass.
    """
    clear: dict[str, Test] = {}
    unclear: dict[str, None] = {}
    for name, function, conditional in _walk_tests(tree, "", conditional=False):
        if conditional or any(map(_may_invert, function.decorator_list)):
            unclear[name] = None
        clear[name] = function
    for name in unclear:
        del clear[name]
    return clear, tuple(unclear)


def iter_executed(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yields the executed statements of a passed test's body in order; a block comes before its contents."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.With) and all(is_transparent(item) for item in statement.items):
            yield from iter_executed(statement.body)
        if isinstance(statement, ast.Try) and not statement.handlers and not any(map(may_leave, statement.finalbody)):
            yield from iter_executed(statement.body)
        if may_leave(statement):
            return


def is_transparent(item: ast.withitem) -> bool:
    """Does the context manager let every exception through?"""
    call = item.context_expr
    return isinstance(call, ast.Call) and _TRANSPARENT.fullmatch(ast.unparse(call.func)) is not None


def _may_invert(decorator: ast.expr) -> bool:
    name = ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator)
    return not name.startswith("pytest.mark.") and _INVERTING.search(name) is not None


def _walk_tests(node: ast.AST, prefix: str, *, conditional: bool) -> Iterator[tuple[str, Test, bool]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            if child.name.startswith("test"):
                yield prefix + child.name, child, conditional
        elif isinstance(child, ast.ClassDef):
            yield from _walk_tests(child, f"{prefix}{child.name}::", conditional=conditional)
        elif isinstance(child, ast.If | ast.Try | ast.With | ast.For | ast.While | ast.ExceptHandler):
            yield from _walk_tests(child, prefix, conditional=True)


def may_leave(statement: ast.AST) -> bool:
    """May this statement end its function, or pause it?"""
    if isinstance(statement, ast.Return | ast.Yield | ast.YieldFrom):
        return True
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
        return False
    return any(may_leave(child) for child in ast.iter_child_nodes(statement))
