"""Floats that are compared for equality, which rounding errors decide: `math.isclose` in its place."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from greenloop.core.records.attempt import Attempt
from greenloop.drafting.candidates.changes.change import (
    Change,
    Kind,
    change_of,
    parse_function,
    replace_node,
    source_of,
)

_FLOAT = re.compile(r"\b\d+\.\d|\d[eE]-\d")


def float_equality(text: str, attempt: Attempt) -> Iterator[Change]:
    """Yields a change for each `==` and `!=` of a function, where the failures show a float."""
    messages = [case.failure.message for case in attempt.verdict.cases if case.failure]
    found = parse_function(text) if any(map(_FLOAT.search, messages)) else None
    if found is None:
        return
    parsed, function = found
    for node in ast.walk(function):
        match node:
            case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq() as sign], comparators=[right]):
                sides = [left, right]
            case _:
                continue
        if any(isinstance(each, ast.Constant) and not isinstance(each.value, float) for each in sides):
            continue
        word = "not " if isinstance(sign, ast.NotEq) else ""
        new = f"{word}math.isclose({', '.join(source_of(each, parsed) for each in sides)})"
        yield replace(change_of(parsed, [replace_node(node, new)], Kind.SLIP), imports=("import math",))
