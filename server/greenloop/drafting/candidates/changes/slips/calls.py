"""Calls that are not what they look like: of a method that returns nothing, without brackets, `zip` of one list."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from greenloop.core.python.ast_source import Fragment, Function
from greenloop.core.records.attempt import Attempt
from greenloop.drafting.candidates.changes.change import (
    Change,
    Edit,
    Kind,
    change_of,
    insert_after,
    insert_before,
    parse_function,
    replace_node,
    shown_by,
    source_of,
)

IN_PLACE = {"sort", "reverse", "append", "extend", "insert", "add", "update", "discard", "remove", "clear"}
# Methods and functions whose value is all that they do.
PURE = {
    *("replace", "strip", "lstrip", "rstrip", "lower", "upper", "title", "capitalize", "swapcase", "zfill", "center"),
    *("ljust", "rjust", "removeprefix", "removesuffix", "casefold", "expandtabs"),
}
PURE_FUNCTIONS = {"sorted", "reversed"}
_METHOD_SHOWN = re.compile(r"<(?:built-in|bound|function|method)|'(?:\w+_)*(?:method|function)(?:_\w+)*'")
_NOT_CALLABLE = re.compile(r"'\w+' object is not callable")
_COROUTINE = re.compile(r"<coroutine object|'coroutine'")


def calls(text: str, attempt: Attempt) -> Iterator[Change]:
    """Yields a change for each such call of a function, and for each comparison that stands for an assignment."""
    if (found := parse_function(text)) is None:
        return
    parsed, function = found
    shown = shown_by(attempt)
    edits = [
        edit
        for node in ast.walk(function)
        for edit in (*_without_value(node, parsed), *_lost_value(node, parsed), *_zipped(node))
    ]
    edits += _missing_calls(function) if _METHOD_SHOWN.search(shown) else []
    edits += _calls_too_many(function) if _NOT_CALLABLE.search(shown) else []
    yield from (change_of(parsed, [edit], Kind.SLIP) for edit in edits)
    if isinstance(function, ast.AsyncFunctionDef) and _COROUTINE.search(shown):
        yield from (change_of(parsed, edits, Kind.SLIP) for edits in _missing_awaits(function))


def _without_value(node: ast.AST, parsed: Fragment) -> Iterator[Edit]:
    """Edits where the value of a method is used that has none: `return items.sort()`, `items = items.append(x)`."""
    if not isinstance(node, ast.Assign | ast.Return) or node.value is None:
        return
    match node.value:
        case ast.Call(func=ast.Attribute(value=changed, attr=name)) if name in IN_PLACE:
            changed_source, source = source_of(changed, parsed), source_of(node.value, parsed)
        case _:
            return
    arguments = source[len(changed_source) + len(f".{name}(") : -1].strip()
    if isinstance(node, ast.Assign) and [source_of(each, parsed) for each in node.targets] == [changed_source]:
        yield replace_node(node, source)
    elif name == "sort":
        yield replace_node(node.value, f"sorted({', '.join(filter(None, (changed_source, arguments)))})")
    elif name == "reverse":
        yield replace_node(node.value, f"{changed_source}[::-1]")
    elif isinstance(node, ast.Return) and not (indent := parsed.lines[node.lineno - 1][: node.col_offset]).strip():
        yield replace_node(node, f"{source}\n{indent}return {changed_source}")


def _zipped(node: ast.AST) -> Iterator[Edit]:
    """Edits where `zip` is given one argument, which it can only wrap item by item."""
    match node:
        case ast.Call(func=ast.Name(id="zip"), args=[ast.expr() as only]) if not isinstance(only, ast.Starred):
            yield insert_before(only, "*")


def _lost_value(node: ast.AST, parsed: Fragment) -> Iterator[Edit]:
    """Edits where a value is lost: `text.strip()`, `sorted(items)` and `total == 0` as statements."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method))) if method in PURE:
            yield insert_before(node, f"{name} = ")
        case ast.Expr(value=ast.Call(func=ast.Name(id=function), args=[ast.Name(id=name), *_])) if (
            function in PURE_FUNCTIONS
        ):
            is_iterator = function == "reversed"
            yield replace_node(node, f"{name} = {'list({})' if is_iterator else '{}'}".format(source_of(node, parsed)))
        case ast.Expr(
            value=ast.Compare(
                left=ast.Name() | ast.Attribute() | ast.Subscript() as left, ops=[ast.Eq()], comparators=[right]
            )
        ):
            yield replace_node(node, f"{source_of(left, parsed)} = {source_of(right, parsed)}")


def _missing_calls(function: Function) -> list[Edit]:
    called = {node.func for node in ast.walk(function) if isinstance(node, ast.Call)}
    return [
        insert_after(node, "()")
        for node in ast.walk(function)
        if isinstance(node, ast.Attribute | ast.Name) and isinstance(node.ctx, ast.Load) and node not in called
    ]


def _calls_too_many(function: Function) -> list[Edit]:
    return [
        Edit(
            line=node.func.end_lineno or node.lineno,
            start=node.func.end_col_offset or 0,
            end_line=node.end_lineno,
            end=node.end_col_offset or 0,
        )
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and not node.args and not node.keywords
    ]


def _missing_awaits(function: ast.AsyncFunctionDef) -> Iterator[list[Edit]]:
    awaited = {node.value for node in ast.walk(function) if isinstance(node, ast.Await)}
    followed = {node.value for node in ast.walk(function) if isinstance(node, ast.Attribute | ast.Subscript)}
    for node in (each for item in function.body for each in ast.walk(item)):
        if isinstance(node, ast.Call) and node not in awaited:
            in_brackets = node in followed
            yield [
                insert_before(node, "(await " if in_brackets else "await "),
                *([insert_after(node, ")")] if in_brackets else []),
            ]
