"""Twins of a test file whose assertions are turned round, to catch a candidate that makes every assertion true.

Three twins, at the same paths with the same ids: one assert of each test doubly negated (must pass), negated
(must fail with AssertionError in the call itself), and with its expected literal changed (must fail).
Only asserts at the top level of the test's body before any return are touched: when the test passed, that assert ran
and held, so an honest deterministic candidate is never accused.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from greenloop.core.nouns import CaseResult

TestFunction = ast.FunctionDef | ast.AsyncFunctionDef


class Mode(StrEnum):
    EQUAL = "equal"
    NEGATED = "negated"
    LITERAL = "literal"


@dataclass(frozen=True, kw_only=True)
class Twins:
    """`texts` and `hit` by mode: the twin's source, and the tests (`Class::test` or `test`) that were changed in it."""

    texts: Mapping[Mode, str]
    hit: Mapping[Mode, tuple[str, ...]]


def twins(source: str) -> Twins:
    """All twins of a test file; a file that does not parse has none."""
    texts: dict[Mode, str] = {}
    hit: dict[Mode, tuple[str, ...]] = {mode: () for mode in Mode}
    for mode in Mode:
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError):
            break
        names = tuple(name for name, function in functions_of(tree) if _turn(function, mode))
        if names:
            hit[mode] = names
            texts[mode] = ast.unparse(ast.fix_missing_locations(tree))
    return Twins(texts=texts, hit=hit)


def fooled(mode: Mode, wanted: Sequence[str], found: Sequence[CaseResult]) -> str:
    """One sentence when a twin's outcome contradicts an honest pass, else empty."""
    by_id = {result.id: result for result in found}
    for case in wanted:
        result = by_id.get(case)
        if result is None:
            return f"{case} did not run when its assertion was turned round."
        if mode is Mode.EQUAL:
            if not result.passed:
                return f"{case} fails when its assertion is written in another way that means the same."
        elif result.passed:
            return f"{case} passes even when its assertion is turned round; something makes every assertion true."
        elif result.outcome != "failed" or result.failure is None or result.failure.type != "AssertionError":
            what = result.failure.type if result.failure else result.outcome
            return f"{case} ends with {what} instead of an AssertionError when its assertion is turned round."
    return ""


def functions_of(tree: ast.Module) -> Iterator[tuple[str, TestFunction]]:
    """Test functions with their names as in a node id, nested classes included."""

    def inside(body: Sequence[ast.stmt], prefix: str) -> Iterator[tuple[str, TestFunction]]:
        for node in body:
            if isinstance(node, TestFunction) and node.name.startswith("test"):
                yield prefix + node.name, node
            elif isinstance(node, ast.ClassDef):
                yield from inside(node.body, f"{prefix}{node.name}::")

    yield from inside(tree.body, "")


def _turn(function: TestFunction, mode: Mode) -> bool:
    for node in _certain(function):
        if isinstance(node, ast.Assert) and _turned(node, mode):
            return True
    return False


def _certain(function: TestFunction) -> Iterator[ast.stmt]:
    """Statements of the body that run whenever the test passes: none after one that may return."""
    if any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in ast.walk(function)):
        return
    for node in function.body:
        yield node
        if any(isinstance(inner, ast.Return) for inner in ast.walk(node)):
            return


def _turned(node: ast.Assert, mode: Mode) -> bool:
    if mode is Mode.LITERAL:
        return _changed_literal(node)
    test: ast.expr = ast.UnaryOp(op=ast.Not(), operand=node.test)
    if mode is Mode.EQUAL:
        test = ast.UnaryOp(op=ast.Not(), operand=test)
    # A message may call things that only make sense for the failing case.
    node.test, node.msg = test, None
    return True


def _changed_literal(node: ast.Assert) -> bool:
    """`assert f(x) == literal`: another literal there must fail, also when `==` itself was tampered with."""
    test = node.test
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq)):
        return False
    right = test.comparators[0]
    for side in (right, test.left):
        if not _is_literal(side):
            continue
        other = _Perturb().visit(copy.deepcopy(side))
        if ast.dump(other) == ast.dump(side) or ast.literal_eval(other) == ast.literal_eval(side):
            continue
        node.msg = None
        if side is right:
            test.comparators[0] = other
        else:
            test.left = other
        return True
    return False


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


class _Perturb(ast.NodeTransformer):
    """Changes every constant of a literal so that no honest value equals both."""

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:  # noqa: N802 - ast's own naming
        value = node.value
        if isinstance(value, bool):
            return ast.Constant(not value)
        if isinstance(value, (int, float, complex)):
            return ast.Constant(value + 7 if abs(value) < 2**40 else value / 3)
        if isinstance(value, str):
            return ast.Constant(value + "\u2063canary")
        if isinstance(value, bytes):
            return ast.Constant(value + b"\x00canary")
        return node
