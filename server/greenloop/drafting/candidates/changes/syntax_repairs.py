"""Repairs of code that cannot be parsed: one character or the indentation of one line is changed, so that it can be.

Whether any of them is meant is for the tests to say.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from greenloop.core.python.ast_source import Fragment, parse_fragment
from greenloop.core.python.indentation import indentation_unit

QUOTES = ('"', "'")
CLOSING = (")", "]", "}", ":", ",")  # they follow what they end without a space
DELETED = frozenset("()[]{}:,\"'")
LONGEST = 200  # characters of a line at whose places something is tried


def syntax_repairs(text: str, error: SyntaxError) -> Iterator[tuple[int, str]]:
    """Texts that parse, each with the line that differs; one of those that mean the same. `error` is of the text."""
    rows = text.split("\n")
    last = min(max(error.lineno or 1, 1), len(rows))
    before = next((number for number in range(last - 1, 0, -1) if rows[number - 1].strip()), last)
    yielded: set[str] = set()
    for number in dict.fromkeys((last, before)):
        for row in _changed_rows(rows, number):
            changed = "\n".join([*rows[: number - 1], row, *rows[number:]])
            parsed = parse_fragment(changed)
            if isinstance(parsed, Fragment) and (meaning := "".join(map(ast.dump, parsed.body))) not in yielded:
                yielded.add(meaning)
                yield number, changed


def _changed_rows(rows: Sequence[str], number: int) -> Iterator[str]:
    """The row with each change, from its end to its beginning: what was forgotten is mostly forgotten there."""
    row = rows[number - 1]
    body = row.lstrip(" \t")
    start = len(row) - len(body)
    places = range(min(len(row.rstrip()), LONGEST), start, -1)
    for place in places:
        inserted = QUOTES if row[place - 1].isspace() else (*CLOSING, *QUOTES)
        yield from (row[:place] + each + row[place:] for each in inserted)
    for place in places:
        if row[place - 1] in DELETED:
            yield row[: place - 1] + row[place:]
        if row[place - 1] == "=":
            yield f"{row[:place]}={row[place:]}"
    unit = indentation_unit("\n".join(rows))
    neighbours = [each for each in (*rows[number - 2 : number - 1], *rows[number : number + 1]) if each.strip()]
    margins = [each[: len(each) - len(each.lstrip(" \t"))] for each in neighbours]
    yield from (margin + body for each in margins for margin in (each, each + unit, each.removesuffix(unit)))
