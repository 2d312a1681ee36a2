"""Literal values in source, and values that the user types. Only literals are ever evaluated."""

from __future__ import annotations

import ast
from typing import Any

from greenloop.core.python.ast_source import UNPARSABLE

LONGEST_INPUT = 2_000  # characters of a value that the user types
# Expressions that mean something else, or nothing, inside a test.
_LIVE = (ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr)


def literal_value(source: str | ast.expr) -> tuple[Any, ...]:
    """The value of a literal, in a tuple; an empty tuple where it is not a literal."""
    try:
        return (ast.literal_eval(source.strip() if isinstance(source, str) else source),)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return ()


def parse_literal_input(text: str) -> str:
    """The value that the user types as one line of source; it is never evaluated.

    Raises `ValueError` with one sentence where it is not an expression.
    """
    text = text.strip()
    if not text:
        raise ValueError("A value is needed, such as 3, 'a' or [1, 2].")
    if len(text) > LONGEST_INPUT:
        raise ValueError(f"That value is longer than {LONGEST_INPUT} characters; give a shorter one.")
    try:
        tree = ast.parse(text, mode="eval")
        if not any(isinstance(node, _LIVE) for node in ast.walk(tree)):
            return ast.unparse(tree)
    except UNPARSABLE:
        pass
    shown = text if len(text) <= 60 else text[:59] + "…"
    raise ValueError(f"{shown!r} is not a Python value; write it as in a test, such as 3, 'a' or [1, 2].")
