"""Constructors that leave out the one of the base, whose attributes the objects then lack."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from greenloop.core.records.attempt import Attempt
from greenloop.drafting.candidates.changes.change import (
    Change,
    Kind,
    change_of,
    first_statement,
    insert_before,
    parse_function,
    shown_by,
)

_MISSING = re.compile(r"object has no attribute '(\w+)'")


def missing_super(text: str, attempt: Attempt) -> Iterator[Change]:
    """Yields `__init__` with a call of the base's, where the failures say that an object lacks an attribute."""
    found = parse_function(text) if _MISSING.search(shown_by(attempt)) else None
    if found is None or found[1].name != "__init__":
        return
    parsed, function = found
    names = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    if "super" not in names and (place := first_statement(function, parsed)) is not None:
        first, indent = place
        yield change_of(parsed, [insert_before(first, f"super().__init__()\n{indent}")], Kind.SLIP)
