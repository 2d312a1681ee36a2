"""The values of literals, as `ast.literal_eval` reads them."""

from __future__ import annotations

import ast

_UNREADABLE = (ValueError, SyntaxError, MemoryError, RecursionError, TypeError)


def read_literal(source: str | ast.expr) -> tuple[object] | None:
    """The value of a literal, in a tuple since it may be None; None for anything else."""
    try:
        return (ast.literal_eval(source),)
    except _UNREADABLE:
        return None
