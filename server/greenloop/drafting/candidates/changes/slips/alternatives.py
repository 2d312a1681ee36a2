"""A comparison with one of several values, written as in speech: `x == 1 or 2`, which is always true."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from greenloop.core.records.attempt import Attempt
from greenloop.drafting.candidates.changes.change import (
    Change,
    Kind,
    change_of,
    parse_function,
    replace_node,
    source_of,
)


def alternatives(text: str, _attempt: Attempt) -> Iterator[Change]:
    """Yields the change of each such comparison to `in`, or to `not in` for `x != 1 and 2` and `x != 1 or 2`."""
    if (found := parse_function(text)) is None:
        return
    parsed, function = found
    for node in ast.walk(function):
        match node:
            case ast.BoolOp(values=[ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq() as sign]) as first, *others]):
                pass
            case _:
                continue
        if not all(isinstance(each, ast.Constant) for each in others):
            continue
        values = ", ".join(source_of(each, parsed) for each in (*first.comparators, *others))
        word = "in" if isinstance(sign, ast.Eq) else "not in"
        yield change_of(parsed, [replace_node(node, f"{source_of(left, parsed)} {word} ({values})")], Kind.SLIP)
