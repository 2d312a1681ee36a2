"""Operands and arguments of another type than an operation takes: converted as the failure asks."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from greenloop.core.python.ast_source import Fragment
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

_CONCATENATED = re.compile(r'can only concatenate str \(not "(?:int|float)"\) to str')
_MIXED = re.compile(r"(?:for \S+|between instances of|concatenate):? ?'(?:int|float|str)' and '(?:int|float|str)'")
_JOINED = re.compile(r"sequence item \d+: expected str instance, \w+ found")
_BYTES_WANTED = re.compile(r"must be encoded before|a bytes-like object is required, not 'str'")
_INTEGER_WANTED = re.compile(
    r"'str' object cannot be interpreted as an integer|list indices must be integers or slices, not str"
)


def conversions(text: str, attempt: Attempt) -> Iterator[Change]:
    """Yields a change for each place of a function where the conversion may be missing."""
    shown = shown_by(attempt)
    kinds = [edits_of for pattern, edits_of in _EDITS if pattern.search(shown)]
    found = parse_function(text) if kinds else None
    if found is None:
        return
    parsed, function = found
    for edits_of in kinds:
        for node in (each for item in function.body for each in ast.walk(item)):
            yield from (change_of(parsed, edits, Kind.SLIP) for edits in edits_of(node, parsed))


def _operands(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    return [node.value] if isinstance(node, ast.AugAssign) else []


def _texts(node: ast.AST, _parsed: Fragment) -> Iterator[list[Edit]]:
    if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Add):
        for operand in _operands(node):
            if not isinstance(operand, ast.Constant | ast.JoinedStr | ast.BinOp):
                yield _call("str", operand)


def _numbers(node: ast.AST, _parsed: Fragment) -> Iterator[list[Edit]]:
    for operand in _operands(node):
        if not isinstance(operand, ast.Constant | ast.JoinedStr | ast.BinOp):
            yield from (_call(name, operand) for name in ("int", "float"))


def _joined(node: ast.AST, _parsed: Fragment) -> Iterator[list[Edit]]:
    match node:
        case ast.Call(func=ast.Attribute(attr="join"), args=[ast.expr() as items]):
            element = items.elt if isinstance(items, ast.GeneratorExp | ast.ListComp) else None
            yield _call("str", element) if element else _call("map", items, "str, ")


def _bytes(node: ast.AST, parsed: Fragment) -> Iterator[list[Edit]]:
    if not isinstance(node, ast.Call):
        return
    for each in node.args:
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield [insert_before(each, "b")] if each.value.isascii() else [insert_after(each, ".encode()")]
        elif isinstance(each, ast.Name | ast.Attribute | ast.Subscript | ast.Call | ast.JoinedStr):
            yield [insert_after(each, ".encode()")]
        elif isinstance(each, ast.BinOp):
            yield [replace_node(each, f"({source_of(each, parsed)}).encode()")]


def _integers(node: ast.AST, _parsed: Fragment) -> Iterator[list[Edit]]:
    places = [node.slice] if isinstance(node, ast.Subscript) else node.args if isinstance(node, ast.Call) else []
    for each in places:
        if not isinstance(each, ast.Constant | ast.Slice | ast.Starred):
            yield _call("int", each)


def _call(name: str, node: ast.expr, before: str = "") -> list[Edit]:
    return [insert_before(node, f"{name}({before}"), insert_after(node, ")")]


_EDITS = (
    (_CONCATENATED, _texts),
    (_MIXED, _texts),
    (_MIXED, _numbers),
    (_JOINED, _joined),
    (_BYTES_WANTED, _bytes),
    (_INTEGER_WANTED, _integers),
)
