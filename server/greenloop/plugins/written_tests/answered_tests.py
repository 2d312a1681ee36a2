"""Reads test lines that a model wrote: `assert CALL == VALUE` or `with pytest.raises(ERROR): CALL`.

A line is accepted only if all it can do is make values and call the function under test: no imports, files, dunder
names or assignments. Everything else is silently dropped, since small models write much text around the tests.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from math import prod

from greenloop.core.python.ast_source import parse_module
from greenloop.drafting.candidates.checks.signature import takes_arguments
from greenloop.plugins.function_calls.literals import without_approx
from greenloop.plugins.written_tests.stub_view import StubView

LONGEST = 400  # characters of a test
_JOINED = 8  # rows that one test may span
_START = re.compile(r"^[\s>*•\-\d.)`]*(?=(?:assert|with (?:pytest\.)?raises)\b)")


@dataclass(frozen=True, kw_only=True)
class TestLine:
    """A test that can be run: the statement, its call, what it expects of the call, and the imports it needs.

    `module_names` are classes of the module under test that it uses.
    """

    text: str
    call: str
    expectation: str
    imports: tuple[str, ...] = ()
    module_names: tuple[str, ...] = ()


def read_tests(answer: str, target: StubView) -> Iterator[TestLine]:
    """The readable tests of an answer, in order."""
    rows = answer.replace("\r\n", "\n").split("\n")
    position = 0
    while position < len(rows):
        tree, row_count = _statement(rows, position)
        position += row_count
        test = _line(tree, target) if tree is not None else None
        if test is not None and len(test.text) <= LONGEST:
            yield test


def _statement(rows: list[str], first_row: int) -> tuple[ast.stmt | None, int]:
    """The statement that begins in a row, and how many rows it spans."""
    if not _START.match(rows[first_row]):
        return None, 1
    text = ""
    for row_count, row in enumerate(rows[first_row : first_row + _JOINED], 1):
        text = f"{text} {row.strip()}" if text else _START.sub("", row).rstrip("` ")
        module = parse_module(text)
        if isinstance(module, ast.Module):
            return (module.body[0] if len(module.body) == 1 else None), row_count
    return None, 1


def _line(node: ast.stmt, target: StubView) -> TestLine | None:
    if isinstance(node, ast.With):
        return _raises_test(node, target)
    return _assert_test(node.test, target) if isinstance(node, ast.Assert) else None


def _raises_test(node: ast.With, target: StubView) -> TestLine | None:
    if len(node.items) != 1 or len(node.body) != 1 or not isinstance(node.body[0], ast.Expr):
        return None
    context, call = node.items[0].context_expr, _without_await(node.body[0].value)
    if not (isinstance(context, ast.Call) and len(context.args) == 1 and isinstance(context.args[0], ast.Name)):
        return None
    error = context.args[0].id
    builtin = getattr(builtins, error, None)
    is_builtin = isinstance(builtin, type) and issubclass(builtin, Exception)
    if not (is_builtin or error in target.module_classes):
        return None
    required = find_needs(call, target)
    if required is None or not uses_of_target(call, target):
        return None
    text = f"with pytest.raises({error}): {_run_call(call, target)}"
    own = required.module_names if is_builtin else (*required.module_names, error)
    return TestLine(
        text=text,
        call=ast.unparse(call),
        expectation=f"raises {error}",
        imports=(*required.imports, "import pytest"),
        module_names=own,
    )


def _assert_test(test: ast.expr, target: StubView) -> TestLine | None:
    test = _without_await(test)
    pair = _compared_pair(test, target)
    if pair is None:
        return None
    call, value, operator = pair
    if uses_of_target(value, target) or not (uses_of_target(call, target) and _matches_signature(call, target)):
        return None
    call_needs, value_needs = find_needs(call, target), find_needs(value, target)
    if call_needs is None or value_needs is None:
        return None
    expectation = ast.unparse(value)
    approximate = _approximation(value) if operator == "==" else ""
    imports = [*call_needs.imports, *value_needs.imports, *(["import pytest"] if approximate else [])]
    imports += ["import asyncio"] if target.is_async else []
    run_call = _run_call(call, target)
    text = f"assert {run_call} {operator} {approximate or expectation}"
    if operator in ("true", "false"):
        text = f"assert {'not ' if operator == 'false' else ''}{run_call}"
    return TestLine(
        text=text,
        call=ast.unparse(call),
        expectation=expectation,
        imports=tuple(dict.fromkeys(imports)),
        module_names=(*call_needs.module_names, *value_needs.module_names),
    )


def _compared_pair(test: ast.expr, target: StubView) -> tuple[ast.expr, ast.expr, str] | None:
    """The call, its expected value, and how the two are compared."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand, ast.Constant(False), "false"
    if isinstance(test, ast.Call) and ast.unparse(test.func) == "math.isclose" and len(test.args) == 2:
        return test.args[0], test.args[1], "=="
    if not isinstance(test, ast.Compare):
        return test, ast.Constant(True), "true"
    if len(test.ops) != 1:
        return None
    left, right = test.left, without_approx(test.comparators[0]) or test.comparators[0]
    if isinstance(test.ops[0], ast.Lt | ast.LtE) and (difference := _tolerance_pair(left)):
        return difference[0], difference[1], "=="
    operator = {ast.Eq: "==", ast.Is: "is"}.get(type(test.ops[0]))
    if operator is None:
        return None
    if uses_of_target(right, target) and not uses_of_target(left, target):
        left, right = right, left
    identical = isinstance(right, ast.Constant) and (right.value is None or isinstance(right.value, bool))
    return left, right, operator if operator == "==" or identical else "=="


def _tolerance_pair(node: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """The two sides of `abs(CALL - VALUE)`, which is compared with a tolerance."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "abs" and len(node.args) == 1:
        inner = node.args[0]
        if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Sub):
            return inner.left, inner.right
    return None


class _Awaited(ast.NodeTransformer):
    def visit_Await(self, node: ast.Await) -> ast.expr:
        return self.visit(node.value)  # type: ignore[no-any-return]


def _without_await(node: ast.expr) -> ast.expr:
    """Removes `await`: how a coroutine is run is decided here, not by the model."""
    return _Awaited().visit(deepcopy(node))  # type: ignore[no-any-return]


def _run_call(call: ast.expr, target: StubView) -> str:
    text = ast.unparse(call)
    return f"asyncio.run({text})" if target.is_async else text


def uses_of_target(node: ast.expr, target: StubView) -> list[ast.expr]:
    """The calls of the function under test, or the reads of an attribute under test."""
    calls = [each for each in ast.walk(node) if isinstance(each, ast.Call)]
    is_dunder_method = target.kind == "method" and target.own_name.startswith("__")
    if target.kind in {"function", "class"} or is_dunder_method:
        return [each for each in calls if is_name(each.func, target.root_name)]
    if target.kind == "attribute":
        return [each for each in ast.walk(node) if isinstance(each, ast.Attribute) and each.attr == target.own_name]
    return [each for each in calls if isinstance(each.func, ast.Attribute) and each.func.attr == target.own_name]


def _matches_signature(node: ast.expr, target: StubView) -> bool:
    """Do the calls match the function's signature? If not, the test is wrong."""
    is_dunder_method = target.kind == "method" and target.own_name.startswith("__")
    if target.arguments is None or target.kind == "attribute" or is_dunder_method:
        return True
    calls = [each for each in uses_of_target(node, target) if isinstance(each, ast.Call)]
    return all(takes_arguments(target.arguments, each, is_bound=target.is_bound) for each in calls)


def _approximation(value: ast.expr) -> str:
    """The `pytest.approx` source for a value with fractions; empty where it has none or is nested."""
    if isinstance(value, ast.Set):
        return ""
    parts = value.values if isinstance(value, ast.Dict) else [value]
    if isinstance(value, ast.List | ast.Tuple):
        parts = value.elts
    nodes = [each for part in parts for each in ast.walk(part)]
    text = ast.unparse(value)
    has_fractions = (
        re.search(r"\bnan\b|\bmath\.(pi|e|tau|sqrt)\b", text)
        or any(isinstance(each, ast.Div) for each in ast.walk(value))
        or any(isinstance(each, ast.Constant) and isinstance(each.value, float) for each in nodes)
    )
    is_nested = parts != [value] and any(isinstance(each, ast.List | ast.Tuple | ast.Dict | ast.Set) for each in parts)
    if is_nested or not has_fractions:
        return ""
    return f"pytest.approx({text}{', nan_ok=True' if 'nan' in text else ''})"


LARGEST = 1 << 20  # limit for the length of a range or the repetition of a sequence
HIGHEST = 1000  # limit for an exponent
_EXPRESSIONS = (
    ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp, ast.unaryop, ast.BinOp, ast.operator, ast.Call,
    ast.keyword, ast.Name, ast.Load, ast.Store, ast.Attribute, ast.Subscript, ast.Slice, ast.Starred, ast.Compare,
    ast.cmpop, ast.BoolOp, ast.boolop, ast.IfExp, ast.Lambda, ast.arguments, ast.arg, ast.ListComp, ast.SetComp,
    ast.DictComp, ast.GeneratorExp, ast.comprehension, ast.JoinedStr, ast.FormattedValue,
)  # fmt: skip
_PURE = {
    "abs", "all", "any", "ascii", "bin", "bool", "bytearray", "bytes", "chr", "complex", "dict", "divmod", "enumerate",
    "filter", "float", "format", "frozenset", "hex", "int", "isinstance", "issubclass", "iter", "len", "list", "map",
    "max", "min", "next", "object", "oct", "ord", "pow", "range", "repr", "reversed", "round", "set", "slice", "sorted",
    "str", "sum", "tuple", "type", "zip",
}  # fmt: skip
_MODULES = {"math", "cmath", "operator", "string", "collections", "decimal", "fractions"}
_MAKERS = {
    "Decimal": "decimal", "Fraction": "fractions", "date": "datetime", "timedelta": "datetime", "timezone": "datetime",
    "time": "datetime", "Counter": "collections", "deque": "collections", "OrderedDict": "collections",
    "defaultdict": "collections", "namedtuple": "collections", "PurePosixPath": "pathlib", "UUID": "uuid",
}  # fmt: skip
_WHOLE_DATETIME = re.compile(r"\bdatetime\.(?:date|datetime|time|timedelta|timezone)\b")
_CHANGING = {"now", "today", "utcnow"}  # return another value at each call


@dataclass(frozen=True, kw_only=True)
class Needs:
    """Import statements, and the classes used from the module under test (`module_names`)."""

    imports: tuple[str, ...] = ()
    module_names: tuple[str, ...] = ()


def find_needs(node: ast.expr, target: StubView) -> Needs | None:
    """Finds what an expression needs; None where it does anything but make values and call the target, or is huge."""
    bound = {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
    bound |= {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    imports: list[str] = []
    module_names: list[str] = []
    for each in ast.walk(node):
        if not isinstance(each, _EXPRESSIONS) or _is_huge(each):
            return None
        if isinstance(each, ast.Constant) and each.value is ...:
            return None
        if isinstance(each, ast.Attribute) and (each.attr.startswith("_") or each.attr in _CHANGING):
            return None
        if not isinstance(each, ast.Name) or each.id in bound | _PURE | {target.root_name}:
            continue
        if each.id in target.module_classes:
            module_names.append(each.id)
        elif each.id in _MODULES:
            imports.append(f"import {each.id}")
        elif each.id in _MAKERS:
            imports.append(f"from {_MAKERS[each.id]} import {each.id}")
        elif each.id == "datetime":
            qualified = _WHOLE_DATETIME.search(ast.unparse(node))
            imports.append("import datetime" if qualified else "from datetime import datetime")
        else:
            return None
    return Needs(imports=tuple(dict.fromkeys(imports)), module_names=tuple(dict.fromkeys(module_names)))


def is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_huge(node: ast.AST) -> bool:
    """Would its value be too large for memory?"""
    if isinstance(node, ast.Call) and is_name(node.func, "range"):
        return any(_size(each) > LARGEST for each in node.args)
    if not isinstance(node, ast.BinOp):
        return False
    if isinstance(node.op, ast.Pow | ast.LShift):
        return not isinstance(node.right, ast.Constant) or _size(node.right) > HIGHEST
    operands = [node.left, node.right]
    is_repetition = isinstance(node.op, ast.Mult) and any(map(_is_sequence, operands))
    return is_repetition and any(_size(each) > LARGEST for each in operands)


def _is_sequence(node: ast.expr) -> bool:
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    return is_text or isinstance(node, ast.List | ast.Tuple | ast.JoinedStr)


def _size(node: ast.expr) -> float:
    """An upper bound of a number that the expression computes."""
    constants = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant)]
    numbers = [float(min(abs(each), 1 << 64)) for each in constants if isinstance(each, int | float)]
    if any(isinstance(each, ast.Pow | ast.LShift) for each in ast.walk(node)):
        return float("inf") if len(numbers) != 2 or numbers[1] > 20 else max(numbers[0], 2.0) ** numbers[1]
    return prod(max(number, 1.0) for number in numbers)
