"""The examples that a candidate's author was shown: calls with literal arguments, and what they must give.

Read from docstrings, from the user's tests and from written tests, with `ast` alone; nothing runs.
What is no literal is left out.
"""

from __future__ import annotations

import ast
import doctest
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from greenloop.core.compose import region_text
from greenloop.core.diff import flat
from greenloop.core.nouns import Problem, Provenance, Region
from greenloop.core.sheet import Equation, equation
from greenloop.core.source import FUNCTIONS, Piece, definitions, docstring, piece, plain_name, tree

MOST = 500  # examples of a region
UNSEEN = (Provenance.DESIGNED, Provenance.PROPERTY, Provenance.CONSTRAINT, Provenance.HINT)


@dataclass(frozen=True, kw_only=True)
class Example:
    """A call of the function under test: its arguments by position and by name, and the value it must give."""

    arguments: tuple[Any, ...]
    named: Mapping[str, Any]
    expected: Any
    shown: str


def examples(problem: Problem, region: Region) -> tuple[Example, ...]:
    """Every example of this region that stands in its docstring, in the user's tests or in a written test he saw."""
    name = plain_name(region.qualname).rpartition(".")[2]
    written = [case.source for case in problem.spec.cases if case.provenance not in UNSEEN and case.source]
    found = [*_of_docstring(flat(region_text(problem, region))), *filter(None, map(equation, written))]
    tests = {case.path for case in problem.spec.cases if case.provenance is Provenance.USER}
    for path in sorted(tests):
        found += _of_tests(flat(problem.files.get(path) or ""), _names(problem, path))
    known = {each.shown: each for item in found[:MOST] if (each := _example(item, name)) is not None}
    return tuple(known.values())


def _names(problem: Problem, path: str) -> tuple[str, ...]:
    """The test functions of the target in a file: what other tests ask for was not shown."""
    ids = [case.id for case in problem.spec.cases if case.path == path and case.provenance is Provenance.USER]
    return tuple(sorted({case.rpartition("::")[2].partition("[")[0] for case in ids}))


def value(node: ast.expr) -> Any:
    """A literal's value. Raises `ValueError` where the expression is none."""
    try:
        return ast.literal_eval(node)
    except (TypeError, SyntaxError, MemoryError, RecursionError) as error:
        raise ValueError(str(error)) from error


@lru_cache(maxsize=1024)
def _example(item: Equation, name: str) -> Example | None:
    try:
        call = ast.parse(item.call, mode="eval").body
        if not isinstance(call, ast.Call) or ast.unparse(call.func).rpartition(".")[2] != name:
            return None
        return Example(
            arguments=tuple(value(each) for each in call.args),
            named={each.arg: value(each.value) for each in call.keywords if each.arg},
            expected=value(ast.parse(item.expected, mode="eval").body),
            shown=f"{item.call} == {item.expected}",
        )
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


@lru_cache(maxsize=16)
def _of_docstring(text: str) -> tuple[Equation, ...]:
    """The `>>>` lines of a definition that show a value."""
    found = piece(text)
    if not isinstance(found, Piece):
        return ()
    told: list[Equation] = []
    for _name, node in definitions(found.body):
        if (statement := docstring(node)) is None:
            continue
        assert isinstance(statement.value, ast.Constant)
        try:
            parsed = doctest.DocTestParser().get_examples(str(statement.value.value))
        except ValueError:
            continue
        lines = [f"assert {each.source.strip()} == {each.want.strip()}" for each in parsed if each.want.strip()]
        told += filter(None, map(equation, lines))
    return tuple(told)


def prose(text: str) -> str:
    """A definition's docstring without its examples."""
    found = piece(text)
    if not isinstance(found, Piece):
        return ""
    told = [docstring(node) for _name, node in definitions(found.body)]
    lines = "\n".join(str(each.value.value) for each in told if each and isinstance(each.value, ast.Constant))
    return re.sub(r"(?m)^\s*>>>.*(?:\n\s*\S.*)*", "", lines)


@lru_cache(maxsize=16)
def _of_tests(text: str, names: tuple[str, ...]) -> tuple[Equation, ...]:
    module = tree(text)
    if isinstance(module, SyntaxError):
        return ()
    told: list[Equation] = []
    for name, node in definitions(module.body):
        if isinstance(node, FUNCTIONS) and name.rpartition(".")[2] in names:
            told += _of_test(node)
    return tuple(told)


def _of_test(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Equation]:
    for statement in ast.walk(node):
        if not isinstance(statement, ast.Assert | ast.Expr):
            continue
        source = _plain(statement)
        for given in _parameters(node) or [{}]:
            if source and (read := equation(ast.unparse(_filled(source, given)))):
                yield read


def _plain(statement: ast.Assert | ast.Expr) -> ast.stmt | None:
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
    """What a single `parametrize` with literal rows puts in place of the test's arguments."""
    marks = [
        each
        for each in node.decorator_list
        if isinstance(each, ast.Call) and ast.unparse(each.func).endswith("parametrize") and len(each.args) >= 2
    ]
    if len(marks) != 1:
        return []
    first, rows = marks[0].args[:2]
    if isinstance(first, ast.Constant) and isinstance(first.value, str):
        names = [name.strip() for name in first.value.split(",") if name.strip()]
    else:
        names = [str(each.value) for each in getattr(first, "elts", ()) if isinstance(each, ast.Constant)]
    found = []
    for row in getattr(rows, "elts", ()):
        if isinstance(row, ast.Call) and ast.unparse(row.func).endswith("param"):
            items: Sequence[ast.expr] = row.args
        else:
            items = [row] if len(names) == 1 else getattr(row, "elts", ())
        if len(items) == len(names):
            found.append(dict(zip(names, items, strict=True)))
    return found


class _Fill(ast.NodeTransformer):
    def __init__(self, given: Mapping[str, ast.expr]) -> None:
        self.given = given

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.given.get(node.id, node)


def _filled(statement: ast.stmt, given: Mapping[str, ast.expr]) -> ast.stmt:
    if not given:
        return statement
    copied: ast.stmt = ast.parse(ast.unparse(statement)).body[0]  # trees are shared
    _Fill(given).visit(copied)
    return copied
