"""Reads the values that a plan expects of variables, test by test, in the words of a small model.

After the plan verification of LPW (arXiv 2411.14503), which is free text there. Only values that Python can read are
kept, since anything else cannot be compared with a traced run.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping, Sequence

from greenloop.core.python.ast_source import read_literal
from greenloop.drafting.feedback._critic import LONGEST
from greenloop_lab.drafting.feedback._plans import ShownTest

RETURN = "return"
MOST = 40  # values that are kept of one test
VALUE = 200  # maximum characters of one value
DIGITS = 1e-6  # relative difference below which two numbers are the same

# The values that a plan expects in one test, as pairs of a variable, or `return`, and the text of its value, in order.
Expected = Sequence[tuple[str, str]]

_HEAD = re.compile(r"^[\W_]*(?:test|case|example)\s*#?\s*(\d{1,2})\b[\s*_]*[:.)-]?(.*)$", re.IGNORECASE)
_BULLET = re.compile(r"^[\s>]*(?:[-*•]|\d{1,2}[.)])?\s*")
_NEXT = re.compile(r"[,;]\s*(?=(?:and\s+)?[`*]*[A-Za-z_]\w*[`*]*\s*(?:=(?!=)|->|→))")
_PAIR = re.compile(r"^(?:and\s+)?[`*]*([A-Za-z_]\w*)[`*]*\s*(?:=(?!=)|:|->|→|\bis\b|\bbecomes\b)\s*(.+)$")
_RETURNS = re.compile(
    r"^(?:it\s+|the function\s+)?[`*]*returns?(?:ed)?(?:\s+value)?[`*]*\s*[:=]?\s*(.+)$", re.IGNORECASE
)
_NOTE = re.compile(r"\s+(?:#|\(|because\b|since\b|//).*$")


def parse_expected(answer: str, tests: Sequence[ShownTest]) -> dict[str, list[tuple[str, str]]]:
    """The expected values by the ids of the tests; a test of which nothing can be read is left out."""
    expected: dict[str, list[tuple[str, str]]] = {}
    current = tests[0] if len(tests) == 1 else None
    for row in answer[:LONGEST].split("\n"):
        head = _HEAD.match(row)
        if head and 0 < int(head[1]) <= len(tests):
            current = tests[int(head[1]) - 1]
            row = "" if head[2].strip() in current.text else head[2]  # noqa: PLW2901
        if current is not None and (pairs := read_pairs(row)):
            expected.setdefault(current.case, []).extend(pairs)
    return {case: pairs[:MOST] for case, pairs in expected.items()}


def read_pairs(row: str) -> list[tuple[str, str]]:
    """The variables of one row with their values, such as `i = 1, total = 0 + 1 = 1`."""
    text = _BULLET.sub("", row, count=1).strip()
    if returned := _RETURNS.match(text):
        value = _literal_text(returned[1])
        return [(RETURN, value)] if value else []
    pairs = []
    for piece in _NEXT.split(text):
        pair = _PAIR.match(piece.strip())
        if pair and (value := _literal_text(pair[2])):
            pairs.append((pair[1], value))
    return pairs


def same_value(expected: str, observed: str) -> bool | None:
    """Are two texts of values the same value? None where the observed one was shortened or is no plain value."""
    left, right = read_literal(expected), read_literal(observed)
    if right is None:
        return None
    return left is not None and _equal(left[0], right[0])


def contradictions(expected: Mapping[str, Expected], tests: Sequence[ShownTest]) -> list[tuple[ShownTest, str, str]]:
    """The tests whose last `return` is not what their assertion wants, with the two values; "" for no `return`."""
    result = []
    for test in tests:
        values = [value for name, value in expected.get(test.case, ()) if name == RETURN]
        wanted = wanted_value(test.text)
        is_right = bool(values) and same_value(values[-1], wanted) is not False
        if test.case in expected and wanted and not is_right:
            result.append((test, values[-1] if values else "", wanted))
    return result


def wanted_value(statement: str) -> str:
    """The literal that a single assertion compares a call with; "" for any other test."""
    _call, gives, printed = statement.partition(" gives ")
    if gives:
        return printed if read_literal(printed) else ""
    try:
        node = ast.parse(statement.rpartition("]: ")[2]).body[0]
    except (SyntaxError, ValueError, IndexError, RecursionError, MemoryError):
        return ""
    is_equality = (
        isinstance(node, ast.Assert)
        and isinstance(node.test, ast.Compare)
        and isinstance(node.test.left, ast.Call)
        and len(node.test.ops) == 1
        and isinstance(node.test.ops[0], ast.Eq)
    )
    if not is_equality:
        return ""
    text = ast.unparse(node.test.comparators[0])  # type: ignore[attr-defined]
    return text if read_literal(text) else ""


def _literal_text(text: str) -> str:
    """The value at the end of a row, such as `3` of `1 + 2 = 3 (the sum).`; "" where it is no literal."""
    whole = text.strip(" `*.;,")[:VALUE]
    for piece in (whole, whole.rpartition(" = ")[2], _NOTE.sub("", whole), _NOTE.sub("", whole).rpartition(" = ")[2]):
        value = piece.strip(" `*.;,")
        if value and read_literal(value):
            return value
    return ""


def _equal(left: object, right: object) -> bool:
    """Are they equal, numbers but for rounding, and lists and tuples by their elements?"""
    if isinstance(left, int | float) and isinstance(right, int | float):
        return math.isclose(left, right, rel_tol=DIGITS, abs_tol=DIGITS)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(_equal, left, right))
    return bool(left == right)
