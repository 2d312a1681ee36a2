"""Names tests after their call and its expected result."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection

from greenloop.core.generated_tests import parse_equation
from greenloop.core.python.ast_source import UNPARSABLE
from greenloop.core.python.literal_values import read_literal
from greenloop.core.records.spec import Case, Provenance

MOST = 40  # characters after the function's name


def class_name(name: str, taken: Collection[str]) -> str:
    """`TestRle`; with a number where that is taken."""
    base = "Test" + "".join(part[:1].upper() + part[1:] for part in re.split(r"[._]+", name) if part)
    return next(
        candidate for number in range(1, 1000) if (candidate := base + (str(number) if number > 1 else "")) not in taken
    )


def function_name(case: Case, name: str, taken: Collection[str]) -> str:
    """`test_rle_of_empty_string`, `test_rle_idempotent`; with a number where that is unreadable or taken."""
    base = "test_" + re.sub(r"\W|__+", "_", name.replace(".", "_")).strip("_").lower()
    words = _describe_case(case)
    candidate = f"{base}_{words}" if words and len(words) <= MOST else ""
    if candidate and candidate not in taken:
        return candidate
    stem = candidate or base
    return next(numbered for number in range(1, 10_000) if (numbered := f"{stem}_{number}") not in taken)


def _describe_case(case: Case) -> str:
    if case.provenance is Provenance.PROPERTY:
        return _slug(case.source.partition(":")[0])
    parsed = parse_equation(case.source)
    try:
        call = ast.parse(parsed.call, mode="eval").body if parsed else None
    except UNPARSABLE:
        call = None
    if parsed is None or not isinstance(call, ast.Call):
        return ""
    words = [_describe_value(each) for each in (*call.args, *(each.value for each in call.keywords))]
    inputs = "_and_".join(words) if all(words) else ""
    if parsed.raises:
        error = _slug(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", parsed.raises))
        return f"of_{inputs}_raises_{error}" if inputs else f"raises_{error}"
    return f"of_{inputs}" if inputs else ""


def _describe_value(node: ast.expr) -> str:
    """A literal in words; "" where it has none."""
    if (value := read_literal(node)) is None:
        return ""
    item = value[0]
    type_name = type(item).__name__.replace("str", "string").replace("NoneType", "none")
    if item is None or isinstance(item, bool):
        return str(item).lower()
    if isinstance(item, int | float):
        return ("minus_" if item < 0 else "") + re.sub(r"\W", "_", str(abs(item)))
    if hasattr(item, "__len__") and not len(item):
        return f"empty_{type_name}"
    if isinstance(item, str):
        return _slug(item) if re.fullmatch(r"[\w -]+", item, re.ASCII) else ""
    if isinstance(item, list | tuple) and len(item) <= 4:
        words = [_describe_value(each) for each in getattr(node, "elts", ())]
        return "_".join(words) if all(words) else ""
    return ""


def _slug(text: str) -> str:
    return re.sub(r"[^0-9a-z]+", "_", text.lower()).strip("_")
