"""Returns for a function that has none: of what its last statements compute, or of a name that it assigns."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from greenloop.core.python.ast_source import FUNCTIONS, Fragment, docstring_statement, parse_fragment

MOST_NAMES = 4  # names that are returned in turn, the last assigned one first
_SCOPES = (*FUNCTIONS, ast.ClassDef, ast.Lambda)
_GENERATES = (ast.Yield, ast.YieldFrom)


def with_return(text: str) -> Iterator[tuple[int, str]]:
    """Yields the changed line and the new text of a function that never returns a value; nothing for any other."""
    parsed = parse_fragment(text)
    if not isinstance(parsed, Fragment):
        return
    function = next((each for each in parsed.body if isinstance(each, FUNCTIONS)), None)
    own = list(_own_nodes(function.body)) if function else []
    if function is None or any(isinstance(node, _GENERATES) or _returns_value(node) for node in own):
        return
    rows = [line.encode() for line in parsed.lines]

    def text_of(changed: Sequence[bytes]) -> str:
        return b"\n".join(changed[parsed.shift :]).decode()

    if tails := [each for each in _tails(function.body) if each is not docstring_statement(function)]:
        changed = list(rows)
        for each in tails:
            row = changed[each.lineno - 1]
            changed[each.lineno - 1] = row[: each.col_offset] + b"return " + row[each.col_offset :]
        yield tails[0].lineno - parsed.shift, text_of(changed)
    first, end = function.body[0], function.end_lineno or function.lineno
    indent = rows[first.lineno - 1][: first.col_offset]
    if indent.strip():  # the body is on the line of its header
        return
    stored = [node.id for node in own if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    for name in [*dict.fromkeys(reversed(stored))][:MOST_NAMES]:
        yield end - parsed.shift, text_of([*rows[:end], indent + f"return {name}".encode(), *rows[end:]])


def _own_nodes(statements: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Yields the nodes of a function in the order of the text, without those of functions and classes in it."""
    for node in statements:
        yield node
        if not isinstance(node, _SCOPES):
            yield from _own_nodes(list(ast.iter_child_nodes(node)))


def _returns_value(node: ast.AST) -> bool:
    return isinstance(node, ast.Return) and node.value is not None


def _tails(block: Sequence[ast.stmt]) -> Iterator[ast.Expr]:
    """Yields the expressions that a block ends with, in each of its branches."""
    last = block[-1]
    if isinstance(last, ast.Expr) and not isinstance(last.value, ast.Constant):
        yield last
    elif isinstance(last, ast.If | ast.With | ast.AsyncWith):
        yield from _tails(last.body)
        yield from _tails(last.orelse) if isinstance(last, ast.If) and last.orelse else ()
