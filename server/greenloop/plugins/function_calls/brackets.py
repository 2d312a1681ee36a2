"""Finds the ends of brackets and strings in the source of calls and values."""

from __future__ import annotations

import re

LONGEST = 2_000  # characters of one call or value
OPEN, CLOSED = "([{", ")]}"
_QUOTED = re.compile(r"'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"")


def closing_position(text: str, start: int) -> int | None:
    """The position after the bracket that closes the one at `start`."""
    depth, position = 0, start
    while position < min(len(text), start + LONGEST):
        character = text[position]
        if character in "\"'":
            position = string_end(text, position)
            continue
        depth += (character in OPEN) - (character in CLOSED)
        position += 1
        if not depth:
            return position
    return None


def string_end(text: str, start: int) -> int:
    """The position after the string that begins at `start`; after its quote where it is not closed in its row."""
    match = _QUOTED.match(text, start)
    return match.end() if match else start + 1
