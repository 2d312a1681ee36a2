"""Names for tests that say what they are about, read from the call and what it must give."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection

from greenloop.core.nouns import Case, Provenance
from greenloop.core.sheet import equation

MOST = 40  # characters behind the function's name


def title_of(name: str, taken: Collection[str]) -> str:
    base = "Test" + "".join(part[:1].upper() + part[1:] for part in re.split(r"[._]+", name) if part)
    return next(
        title for number in range(1, 1000) if (title := base + (str(number) if number > 1 else "")) not in taken
    )


def name_of(case: Case, name: str, taken: Collection[str]) -> str:
    """`test_rle_of_empty_string`, `test_rle_idempotent`; with a number where that is not readable or not free."""
    base = "test_" + re.sub(r"\W|__+", "_", name.replace(".", "_")).strip("_").lower()
    said = _said(case)
    title = f"{base}_{said}" if said and len(said) <= MOST else ""
    if title and title not in taken:
        return title
    stem = title or base
    return next(each for number in range(1, 10_000) if (each := f"{stem}_{number}") not in taken)


def _said(case: Case) -> str:
    if case.provenance is Provenance.PROPERTY:
        return _slug(case.source.partition(":")[0])
    known = equation(case.source)
    try:
        call = ast.parse(known.call, mode="eval").body if known else None
    except SyntaxError:
        call = None
    if known is None or not isinstance(call, ast.Call):
        return ""
    words = [_value(each) for each in (*call.args, *(each.value for each in call.keywords))]
    told = "_and_".join(words) if all(words) else ""
    if known.raises:
        error = _slug(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", known.raises))
        return f"of_{told}_raises_{error}" if told else f"raises_{error}"
    return f"of_{told}" if told else ""


def _value(node: ast.expr) -> str:
    """A literal in words; empty where there are none for it."""
    try:
        item = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return ""
    kind = type(item).__name__.replace("str", "string").replace("NoneType", "none")
    if item is None or isinstance(item, bool):
        return str(item).lower()
    if isinstance(item, int | float):
        return ("minus_" if item < 0 else "") + re.sub(r"\W", "_", str(abs(item)))
    if hasattr(item, "__len__") and not len(item):
        return f"empty_{kind}"
    if isinstance(item, str):
        return _slug(item) if re.fullmatch(r"[\w -]+", item, re.ASCII) else ""
    if isinstance(item, list | tuple) and len(item) <= 4:
        words = [_value(each) for each in getattr(node, "elts", ())]
        return "_".join(words) if all(words) else ""
    return ""


def _slug(text: str) -> str:
    return re.sub(r"[^0-9a-z]+", "_", text.lower()).strip("_")
