"""Attributes that all objects of a class share."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from greenloop.core.compose import region_text
from greenloop.core.python.ast_source import statements_of
from greenloop.core.python.indentation import indentation_unit
from greenloop.core.records.attempt import Attempt, Candidate
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region
from greenloop.core.text.diff import with_plain_ends
from greenloop.drafting.candidates.changes.change import (
    ChangeKind,
    change_of,
    first_statement,
    insert_before,
    parse_function,
)
from greenloop.plugins.repairs.functions import is_mutable
from greenloop.project.syntax import definitions

_DATACLASS = re.compile(r"^\s*@(?:\w+\.)*dataclass\b", re.MULTILINE)


def own_attributes(problem: Problem, region: Region, _attempt: Attempt) -> Iterator[Candidate]:
    """Yields the assignment to such an attribute and the constructor changed; nothing for another region."""
    owner, _dot, name = region.qualname.rpartition(".")
    statements = statements_of(with_plain_ends(region_text(problem, region))) if region.assigns and owner else ()
    value = getattr(statements[0], "value", None) if len(statements) == 1 else None
    if value is None or not is_mutable(value):
        return
    text = with_plain_ends(problem.files[region.path])
    listed = definitions.find_definitions(text, region.path)
    outer, constructor = (definitions.find_by_qualname(listed, each) for each in (owner, f"{owner}.__init__"))
    if outer is None:
        return
    made = f"self.{name} = {ast.unparse(value)}"
    line = definitions.line_span(text, region.start, region.start)
    indent, unit = line[: len(line) - len(line.lstrip())], indentation_unit(text)
    annotation = _annotation(statements[0], value)
    if _DATACLASS.search(definitions.line_span(text, outer.start, outer.name_line)):
        factory = {"[]": "list", "{}": "dict", "set()": "set"}.get(ast.unparse(value), f"lambda: {ast.unparse(value)}")
        field = f"{indent}{name}: {annotation} = field(default_factory={factory})\n"
        yield Candidate(texts={region: field}, imports=("from dataclasses import field",))
        return
    if constructor is not None:
        place = Region(path=region.path, qualname=constructor.qualname, start=constructor.start, end=constructor.end)
        if (longer := _with_statement(with_plain_ends(region_text(problem, place)), made)) is not None:
            yield Candidate(texts={region: f"{indent}{name}: {annotation}\n", place: longer})
        return
    has_base = "(" in definitions.line_span(text, outer.name_line, outer.header_end)
    rows = ["def __init__(self, *args, **kwargs):", f"{unit}super().__init__(*args, **kwargs)"] if has_base else []
    rows = [*(rows or ["def __init__(self):"]), f"{unit}{made}"]
    following = definitions.line_span(text, region.end + 1, region.end + 1)
    made_by = "".join(f"{indent}{row}\n" for row in rows) + ("\n" if following.strip() else "")
    yield Candidate(texts={region: made_by})


def _annotation(statement: ast.stmt, value: ast.expr) -> str:
    """The type that an assignment states, or that its value has."""
    if isinstance(statement, ast.AnnAssign):
        return ast.unparse(statement.annotation)
    if isinstance(value, ast.Call):
        return ast.unparse(value.func)
    return type(value).__name__.removesuffix("Comp").lower()


def _with_statement(text: str, statement: str) -> str | None:
    """A function's text with a statement before its others; None where it has no line of its own."""
    found = parse_function(text)
    place = first_statement(found[1], found[0]) if found else None
    if found is None or place is None:
        return None
    first, indent = place
    return change_of(found[0], [insert_before(first, f"{statement}\n{indent}")], ChangeKind.SLIP).text
