"""A `return` for a function that has none: of what its last statements compute or print, or of a name it assigns."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from greenloop.core.python.ast_source import FUNCTIONS, Function, docstring_statement
from greenloop.core.python.parameters import parameter_nodes
from greenloop.core.records.attempt import Attempt
from greenloop.drafting.candidates.changes.change import (
    Change,
    Kind,
    change_of,
    insert_after,
    insert_before,
    parse_function,
    replace_node,
    shown_by,
    source_of,
)

MOST_NAMES = 4  # names that are returned in turn, the last assigned one first
_SCOPES = (*FUNCTIONS, ast.ClassDef, ast.Lambda)
_GENERATES = (ast.Yield, ast.YieldFrom)


def missing_return(text: str, attempt: Attempt) -> Iterator[Change]:
    """Yields the changes of a function that never returns a value; none for any other.

    What it prints last is returned in place of it.
    """
    if (found := parse_function(text)) is None:
        return
    parsed, function = found
    own = list(_own_nodes(function.body))
    if any(isinstance(node, _GENERATES) or _returns_value(node) for node in own):
        return
    tails = [each for each in _tails(function.body) if each is not docstring_statement(function)]
    printed = {each: _printed(each) for each in tails}
    if any(printed.values()):
        sources = {each: source_of(value or each.value, parsed) for each, value in printed.items()}
        yield change_of(parsed, [replace_node(each, f"return {new}") for each, new in sources.items()], Kind.SLIP)
    if tails:
        yield change_of(parsed, [insert_before(each, "return ") for each in tails], Kind.SLIP)
    first = function.body[0]
    indent = parsed.lines[first.lineno - 1].encode()[: first.col_offset].decode()
    if indent.strip():  # the body is on the line of its header
        return
    stored = [node.id for node in own if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    stored = [*dict.fromkeys(reversed(stored))][:MOST_NAMES]
    made = [each.name for each in function.body if isinstance(each, FUNCTIONS)][-1:]
    for name in [*stored, *made, *_of_method(function, attempt)]:
        yield change_of(parsed, [insert_after(function.body[-1], f"\n{indent}return {name}")], Kind.SLIP)


def _of_method(function: Function, attempt: Attempt) -> list[str]:
    """The `self` of a method, where the failures say that nothing was returned."""
    names = [each.arg for each in parameter_nodes(function)][:1]
    return names if names == ["self"] and "NoneType" in shown_by(attempt) else []


def _printed(statement: ast.Expr) -> ast.expr | None:
    """The only argument of a call of `print`."""
    match statement.value:
        case ast.Call(func=ast.Name(id="print"), args=[value], keywords=[]) if not isinstance(value, ast.Starred):
            return value
    return None


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
