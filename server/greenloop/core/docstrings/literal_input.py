"""Reads the expected value of a test that the user types; never evaluates it."""

from __future__ import annotations

import ast

LONGEST = 2_000  # characters
# Expressions that mean something else, or nothing, inside a test.
_LIVE = (ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr)


def parse_literal_input(text: str) -> str:
    """The value as one line of source. Raises `ValueError` with one sentence where it is not an expression."""
    text = text.strip()
    if not text:
        raise ValueError("A value is needed, such as 3, 'a' or [1, 2].")
    if len(text) > LONGEST:
        raise ValueError(f"That value is longer than {LONGEST} characters; give a shorter one.")
    try:
        tree = ast.parse(text, mode="eval")
        if not any(isinstance(node, _LIVE) for node in ast.walk(tree)):
            return ast.unparse(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    shown = text if len(text) <= 60 else text[:59] + "…"
    raise ValueError(f"{shown!r} is not a Python value; write it as in a test, such as 3, 'a' or [1, 2].")
