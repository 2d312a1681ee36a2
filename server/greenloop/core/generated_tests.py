"""Writes generated tests: a list of checks becomes one pytest file and its cases.

The file exists in the sandbox only, in the folder of the module that it tests, and imports it as doctests do.
A check must not contain anything from a candidate.

Who asks for such tests is a plugin: an entry point of the group `greenloop.generated_tests` names a module with
`async complete(problem, parts, tools, report_status, first_answer) -> Spec`, `Voting`, `stored_path`, `struck_lines`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from greenloop.core import entry_points
from greenloop.core.python.ast_source import UNPARSABLE, parse_module
from greenloop.core.records.spec import Case, Provenance, Region, Spec


@dataclass(frozen=True, kw_only=True)
class Check:
    """One test. `body` are its statements, `shown` is the line that the user reads (empty: the body's first).

    `line` is its origin in the target's file; `imports` are whole import statements that it needs;
    `decorators` (without `@`) and `parameters` make it a property test; `batch` as in `Case`.
    """

    body: str
    line: int
    provenance: Provenance
    shown: str = ""
    imports: tuple[str, ...] = ()
    decorators: tuple[str, ...] = ()
    parameters: str = ""
    batch: str = ""


@dataclass(frozen=True, kw_only=True)
class Equation:
    """A check of the form `assert CALL == EXPECTED`, or one that expects an exception (`raises`, its class)."""

    call: str
    expected: str = ""
    raises: str = ""


def find_generator() -> Any:
    """The plugin that generates tests from docstrings, None where it is not installed."""
    return next(iter(entry_points.load_all(entry_points.GENERATED_TESTS)), None)


def build_test_file(region: Region, module: str, kind: str, checks: Sequence[Check]) -> Spec:
    """A spec with the file `test_greenloop_KIND_MODULE.py` in the region's folder and a case for each check.

    `module` is the dotted name under which the region's file is imported. Without checks the spec is empty.
    """
    if not checks:
        return Spec()
    path = generated_path(region, kind)
    name = region.qualname.partition(".")[0]
    # Each test has its own import: a module that cannot be imported must fail its tests, not their collection.
    import_line = f"from {module} import {name}"
    parts = ["\n".join(dict.fromkeys(line for check in checks for line in check.imports))]
    cases = []
    for number, check in enumerate(checks, 1):
        test_name = f"test_{kind}_{number}"
        header = [*(f"@{each}" for each in check.decorators), f"def {test_name}({check.parameters}):"]
        body = [f"    {row}" if row.strip() else "" for row in (import_line, *check.body.strip("\n").split("\n"))]
        parts.append("\n".join([*header, *body]))
        cases.append(
            Case(
                id=f"{path}::{test_name}",
                path=region.path,
                line=check.line,
                provenance=check.provenance,
                confirmed=check.provenance is Provenance.CONFIRMED,
                source=check.shown or check.body.strip().split("\n")[0],
                batch=check.batch,
            )
        )
    text = "\n\n\n".join(part for part in parts if part) + "\n"
    return Spec(cases=tuple(cases), selectors=tuple(case.id for case in cases), files={path: text})


def generated_path(region: Region, kind: str) -> str:
    """The path of the generated test file of a kind in the sandbox."""
    own = PurePosixPath(region.path)
    return str(own.with_name(f"test_greenloop_{kind}_{re.sub(r'[^0-9a-zA-Z_]', '_', own.stem)}.py"))


def parse_equation(source: str) -> Equation | None:
    """Parses the source of a check as an equation; None where it has another form.

    Known forms: `assert CALL == VALUE` (either way round, also by `is`, `pytest.approx` taken off), `assert CALL`
    and `assert not CALL` (True, False), `with pytest.raises(ERROR): CALL`.
    """
    tree = parse_module(source.strip())
    if isinstance(tree, SyntaxError) or len(tree.body) != 1:
        return None
    statement = tree.body[0]
    if isinstance(statement, ast.With) and len(statement.items) == 1 and len(statement.body) == 1:
        return _parse_raises(statement)
    return _parse_assertion(statement.test) if isinstance(statement, ast.Assert) else None


def equation_test(equation: Equation) -> tuple[str, tuple[str, ...]]:
    """Body and imports of a test: the call raises, or equals the value; floats are compared approximately."""
    if equation.raises:
        return f"with pytest.raises({equation.raises}):\n    {equation.call}", ("import pytest",)
    try:
        has_floats = any(
            isinstance(node, ast.Constant) and type(node.value) is float
            for node in ast.walk(ast.parse(equation.expected))
        )
    except UNPARSABLE:
        has_floats = False
    if has_floats:
        return f"assert {equation.call} == pytest.approx({equation.expected})", ("import pytest",)
    return f"assert {equation.call} == {equation.expected}", ()


def _parse_raises(node: ast.With) -> Equation | None:
    context, inner = node.items[0].context_expr, node.body[0]
    if not (isinstance(context, ast.Call) and context.args and isinstance(inner, ast.Expr)):
        return None
    is_raises = ast.unparse(context.func).rpartition(".")[2] == "raises"
    return Equation(call=ast.unparse(inner.value), raises=ast.unparse(context.args[0])) if is_raises else None


def _parse_assertion(test: ast.expr) -> Equation | None:
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq | ast.Is):
        sides = [test.left, test.comparators[0]]
        if not _calls(sides[0]) and _calls(sides[1]):
            sides.reverse()
        call, value = sides
        if isinstance(value, ast.Call) and ast.unparse(value.func).rpartition(".")[2] == "approx" and value.args:
            value = value.args[0]
        return Equation(call=ast.unparse(call), expected=ast.unparse(value)) if _calls(call) else None
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and isinstance(test.operand, ast.Call):
        return Equation(call=ast.unparse(test.operand), expected="False")
    return Equation(call=ast.unparse(test), expected="True") if isinstance(test, ast.Call) else None


def _calls(node: ast.expr) -> bool:
    """Does the expression call the function under test? `approx` and plain containers do not count."""
    return any(
        isinstance(inner, ast.Call) and ast.unparse(inner.func).rpartition(".")[2] != "approx"
        for inner in ast.walk(node)
    )
