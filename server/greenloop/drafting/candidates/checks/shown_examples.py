"""Collects the examples that the model was shown: calls with literal arguments and results.

They are read with `ast` from docstrings, the user's tests and written tests; nothing is run. Examples with anything but
literals are left out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from greenloop.core.compose import region_text
from greenloop.core.documentation import doctests_in
from greenloop.core.generated_tests import Equation, parse_equation
from greenloop.core.python.ast_source import (
    FUNCTIONS,
    UNPARSABLE,
    docstring_statement,
    find_definitions,
    plain_name,
    statements_of,
)
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Provenance, Region
from greenloop.core.text.diff import with_plain_ends

MOST = 500  # examples of a region
UNSEEN = (Provenance.DESIGNED, Provenance.PROPERTY, Provenance.CONSTRAINT, Provenance.HINT)


@dataclass(frozen=True, kw_only=True)
class ShownExample:
    """A call of the function under test: its positional and named arguments, and the value it must return."""

    arguments: tuple[Any, ...]
    named: Mapping[str, Any]
    expected: Any
    shown: str


def examples(problem: Problem, region: Region) -> tuple[ShownExample, ...]:
    """Every example of this region in its docstring, in the user's tests or in a written test that was shown."""
    name = plain_name(region.qualname).rpartition(".")[2]
    test_sources = [case.source for case in problem.spec.cases if case.provenance not in UNSEEN and case.source]
    equations = [
        *_docstring_examples(with_plain_ends(region_text(problem, region))),
        *filter(None, map(parse_equation, test_sources)),
    ]
    test_paths = {case.path for case in problem.spec.cases if case.provenance is Provenance.USER}
    for path in sorted(test_paths):
        equations += _test_file_examples(
            with_plain_ends(problem.files.get(path) or ""), _target_test_names(problem, path)
        )
    by_text = {each.shown: each for item in equations[:MOST] if (each := _example(item, name)) is not None}
    return tuple(by_text.values())


def _target_test_names(problem: Problem, path: str) -> tuple[str, ...]:
    """The target's test functions in a file; other tests were not shown."""
    ids = [case.id for case in problem.spec.cases if case.path == path and case.provenance is Provenance.USER]
    return tuple(sorted({case.rpartition("::")[2].partition("[")[0] for case in ids}))


def literal_value(node: ast.expr) -> Any:
    """A literal's value. Raises `ValueError` where the expression is not a literal."""
    try:
        return ast.literal_eval(node)
    except (TypeError, SyntaxError, MemoryError, RecursionError) as error:
        raise ValueError(str(error)) from error


@lru_cache(maxsize=1024)
def _example(item: Equation, name: str) -> ShownExample | None:
    try:
        call = ast.parse(item.call, mode="eval").body
        if not isinstance(call, ast.Call) or ast.unparse(call.func).rpartition(".")[2] != name:
            return None
        return ShownExample(
            arguments=tuple(literal_value(each) for each in call.args),
            named={each.arg: literal_value(each.value) for each in call.keywords if each.arg},
            expected=literal_value(ast.parse(item.expected, mode="eval").body),
            shown=f"{item.call} == {item.expected}",
        )
    except UNPARSABLE:
        return None


@lru_cache(maxsize=16)
def _docstring_examples(text: str) -> tuple[Equation, ...]:
    """The `>>>` examples of a definition that show a value."""
    listed = (each for examples in doctests_in(text).values() for each in examples)
    lines = [f"assert {source.strip()} == {want.strip()}" for source, want in listed if want.strip()]
    return tuple(filter(None, map(parse_equation, lines)))


def docstring_prose(text: str) -> str:
    """A definition's docstrings without their examples."""
    docstrings = [docstring_statement(node) for _name, node in find_definitions(statements_of(text))]
    lines = "\n".join(str(each.value.value) for each in docstrings if each and isinstance(each.value, ast.Constant))
    return re.sub(r"(?m)^\s*>>>.*(?:\n\s*\S.*)*", "", lines)


@lru_cache(maxsize=16)
def _test_file_examples(text: str, names: tuple[str, ...]) -> tuple[Equation, ...]:
    equations: list[Equation] = []
    for name, node in find_definitions(statements_of(text)):
        if isinstance(node, FUNCTIONS) and name.rpartition(".")[2] in names:
            equations += _test_examples(node)
    return tuple(equations)


def _test_examples(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Equation]:
    for statement in ast.walk(node):
        if not isinstance(statement, ast.Assert | ast.Expr):
            continue
        source = _plain_assertion(statement)
        for values in _parameters(node) or [{}]:
            if source and (parsed := parse_equation(ast.unparse(_substitute(source, values)))):
                yield parsed


def _plain_assertion(statement: ast.Assert | ast.Expr) -> ast.stmt | None:
    """The statement as a plain assertion: `self.assertEqual(a, b)` is `assert a == b`."""
    if isinstance(statement, ast.Assert):
        return statement
    call = statement.value
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
        return None
    if call.func.attr in ("assertEqual", "assertEquals", "assertListEqual", "assertIs") and len(call.args) >= 2:
        return ast.Assert(test=ast.Compare(left=call.args[0], ops=[ast.Eq()], comparators=[call.args[1]]), msg=None)
    if call.func.attr in ("assertTrue", "assertFalse") and call.args:
        test = call.args[0] if call.func.attr == "assertTrue" else ast.UnaryOp(op=ast.Not(), operand=call.args[0])
        return ast.Assert(test=test, msg=None)
    return None


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[dict[str, ast.expr]]:
    """The values of a test's arguments from its only `parametrize` mark, one dictionary a row."""
    marks = [
        each
        for each in node.decorator_list
        if isinstance(each, ast.Call) and ast.unparse(each.func).endswith("parametrize") and len(each.args) >= 2
    ]
    if len(marks) != 1:
        return []
    argument_names, rows = marks[0].args[:2]
    if isinstance(argument_names, ast.Constant) and isinstance(argument_names.value, str):
        names = [name.strip() for name in argument_names.value.split(",") if name.strip()]
    else:
        names = [str(each.value) for each in getattr(argument_names, "elts", ()) if isinstance(each, ast.Constant)]
    values = []
    for row in getattr(rows, "elts", ()):
        if isinstance(row, ast.Call) and ast.unparse(row.func).endswith("param"):
            items: Sequence[ast.expr] = row.args
        else:
            items = [row] if len(names) == 1 else getattr(row, "elts", ())
        if len(items) == len(names):
            values.append(dict(zip(names, items, strict=True)))
    return values


class _SubstituteNames(ast.NodeTransformer):
    def __init__(self, values: Mapping[str, ast.expr]) -> None:
        self.given = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.given.get(node.id, node)


def _substitute(statement: ast.stmt, values: Mapping[str, ast.expr]) -> ast.stmt:
    if not values:
        return statement
    copied: ast.stmt = ast.parse(ast.unparse(statement)).body[0]  # a copy, since syntax trees are shared
    _SubstituteNames(values).visit(copied)
    return copied
