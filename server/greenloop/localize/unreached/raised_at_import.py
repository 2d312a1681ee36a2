"""Code that raises while it is imported: what to change first, and what stands in for it until then.

A stand-in is a `unittest.mock.MagicMock`, so what is computed with the value at import goes on. Called with a function
or class it returns that, as most decorators would.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from greenloop.core.python.assignments import assignments_in
from greenloop.core.python.ast_source import find_definitions, statements_of
from greenloop.core.python.indentation import indentation_unit
from greenloop.core.records.spec import Region
from greenloop.core.text.diff import main_line_end, split_lines, with_plain_ends
from greenloop.localize.regions import TextOf, may_change, region_at
from greenloop_sandbox import Failure

_MOCK = '__import__("unittest.mock", fromlist=["mock"])'
STAND_IN = f"{_MOCK}.MagicMock(side_effect=lambda *args, **_: next(filter(callable, args), {_MOCK}.DEFAULT))"
_WORD = re.compile(r"[^\W\d]\w*")
_HEADER = re.compile(r"\s*((?:async\s+)?def)\b")


def places(failure: Failure, text_of: TextOf, patterns: Sequence[str] | None) -> Iterator[Region]:
    """Yields the functions and assignments that the import was in, innermost first.

    `patterns` is pytest's `python_files`.
    """
    for frame in reversed(failure.frames):
        if not may_change(frame.path, patterns):
            continue
        region = region_at(frame.path, frame.line, text_of, patterns)
        region = region or _assignment(frame.path, frame.line, failure.message, text_of(frame.path) or "")
        if region is not None:
            yield region


def _assignment(path: str, line: int, message: str, text: str) -> Region | None:
    """The assignment at the line; for the line of a class the one in it whose name the message has.

    A dataclass complains of its fields at the class.
    """
    found = assignments_in(text)
    at_line = [name for name, node in found.items() if node.lineno <= line <= (node.end_lineno or node.lineno)]
    words = set(_WORD.findall(message))
    for owner, node in find_definitions(statements_of(with_plain_ends(text))):
        first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
        if isinstance(node, ast.ClassDef) and first <= line <= node.lineno:
            at_line += [name for name in found if name.rpartition(".")[0] == owner and name.split(".")[-1] in words]
    if not at_line:
        return None
    value = found[at_line[0]]
    end = value.end_lineno or value.lineno
    return Region(path=path, qualname=at_line[0], start=value.lineno, end=end, assigns=True)


def with_stand_in(region: Region, text: str) -> str | None:
    """Returns the text with a stand-in for the value of an assignment, or for the body of a function.

    None where there is no such assignment.
    """
    return (
        _value_replaced(region, text)
        if region.assigns
        else function_replaced(region, text, f"return next(filter(callable, args), {STAND_IN})")
    )


def depends_on_stand_in(case: str) -> bool:
    """Was a test made from a stand-in? Then the user's code has others: pytest names an empty set NOTSET."""
    return "NOTSET" in case or "MagicMock" in case


def function_replaced(region: Region, text: str, statement: str) -> str:
    """Returns the text with a function of any arguments, without decorators, that has this statement alone."""
    rows, end = split_lines(text), main_line_end(text)
    header = next((row for row in rows[region.start - 1 : region.end] if _HEADER.match(row)), "")
    indent, name = header[: len(header) - len(header.lstrip())], region.qualname.rpartition(".")[2]
    keyword = "async def" if header.split()[:1] == ["async"] else "def"
    if name == "__init__" and statement.startswith("return"):
        statement = "return None"
    stub = [f"{indent}{keyword} {name}(*args, **kwargs):{end}", f"{indent}{indentation_unit(text)}{statement}{end}"]
    return "".join([*rows[: region.start - 1], *stub, *rows[region.end :]])


def _value_replaced(region: Region, text: str) -> str | None:
    rows = split_lines(text)
    value = getattr(assignments_in(text).get(region.qualname), "value", None)
    if value is None or value.end_lineno is None:
        return None
    before = rows[value.lineno - 1].encode()[: value.col_offset].decode()
    after = rows[value.end_lineno - 1].encode()[value.end_col_offset :].decode()
    return "".join([*rows[: value.lineno - 1], before, STAND_IN, after, *rows[value.end_lineno :]])
