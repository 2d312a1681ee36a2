"""Returned values in another form, where the failing values are equal but for that: their type, order, case or sign."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import partial
from operator import itemgetter, methodcaller, neg, not_
from typing import Any

from greenloop.core.python.ast_source import source_of
from greenloop.core.python.literal_values import read_literal
from greenloop.core.records.attempt import Attempt
from greenloop.drafting.candidates.changes.change import (
    Change,
    ChangeKind,
    change_of,
    parse_function,
    replace_node,
)

TEXT_METHODS = ("strip", "rstrip", "lower", "upper", "title", "capitalize")
TYPES = (list, tuple, set, dict, str, int, float, bool)
# What is written around a returned value, and what becomes of the value; these fit one test easily, so it takes two.
FORMS: dict[type, dict[str, Callable[[Any], object]]] = {
    list: {
        "sorted({})": sorted,
        "sorted({}, reverse=True)": partial(sorted, reverse=True),
        "{}[::-1]": itemgetter(slice(None, None, -1)),
        "list(dict.fromkeys({}))": lambda value: list(dict.fromkeys(value)),
    },
    str: {
        **{f"{{}}.{name}()": methodcaller(name) for name in TEXT_METHODS},
        "{}[::-1]": itemgetter(slice(None, None, -1)),
    },
    bool: {"not {}": not_},
    int: {"abs({})": abs, "-{}": neg},
    float: {
        **{f"round({{}}, {digits})": partial(round, ndigits=digits) for digits in (1, 2, 3, 4)},
        "round({})": round,
        "abs({})": abs,
        "-{}": neg,
    },
}
_ATOMS = (ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript, ast.List, ast.Dict, ast.Set, ast.JoinedStr)


def expected_returns(text: str, attempt: Attempt) -> Iterator[Change]:
    """Yields a change for each returned value of a function and each form that an expected value has of it."""
    failures = [case.failure for case in attempt.verdict.cases if case.failure]
    forms = dict.fromkeys(
        form
        for each in failures
        if each.expected is not None and each.observed is not None
        for form in _forms_between(each.expected, each.observed, is_one=len(attempt.verdict.cases) < 2)
    )
    if not forms or (found := parse_function(text)) is None:
        return
    parsed, function = found
    returned = [each for each in ast.walk(function) if isinstance(each, ast.Return)]
    returned.sort(key=lambda each: each.lineno)
    for form in forms:
        for value in (each.value for each in returned if each.value is not None):
            in_brackets = _is_bare_tuple(value) or ("({}" not in form and not isinstance(value, _ATOMS))
            source = f"({source_of(value, parsed.lines)})" if in_brackets else source_of(value, parsed.lines)
            yield change_of(parsed, [replace_node(value, form.format(source))], ChangeKind.EXPECTED)


def _is_bare_tuple(value: ast.expr) -> bool:
    return isinstance(value, ast.Tuple) and bool(value.elts) and value.elts[0].col_offset == value.col_offset


def _forms_between(expected: str, observed: str, *, is_one: bool) -> Iterator[str]:
    wanted, found = read_literal(expected), read_literal(observed)
    if wanted is None or type(wanted[0]) not in TYPES or found == (None,):
        return
    if found is None or type(wanted[0]) is not type(found[0]):
        yield f"{type(wanted[0]).__name__}({{}})"
        yield from ["sorted({})"] if isinstance(wanted[0], list) else ()
        return
    for form, make in FORMS.get(type(found[0]), {}).items() if not is_one else ():
        try:
            is_equal = make(found[0]) == wanted[0]
        except (TypeError, ValueError, OverflowError):  # items that have no order or no hash, numbers that are none
            continue
        if is_equal:
            yield form
