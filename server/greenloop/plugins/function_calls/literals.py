"""Literal values in source: which expressions certainly are one, their imports, how they are compared.

Values are what `ast.literal_eval` reads, arithmetic on these, and calls of well-known constructors with these.
Nothing but literals is ever evaluated.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Iterator
from decimal import Decimal, InvalidOperation

from greenloop.core.python.ast_source import UNPARSABLE
from greenloop.core.python.literals import literal_value

MOST = 5_000  # characters of an expression that is read

_BUILT = frozenset({"set", "frozenset", "dict", "list", "tuple", "range", "bytes", "bytearray", "complex", "float"})
CONSTRUCTORS = {
    "Fraction": "from fractions import Fraction",
    "Decimal": "from decimal import Decimal",
    "Counter": "from collections import Counter",
    "OrderedDict": "from collections import OrderedDict",
    "deque": "from collections import deque",
    "date": "from datetime import date",
    "datetime": "from datetime import datetime",
    "timedelta": "from datetime import timedelta",
    "Path": "from pathlib import Path",
    "PurePath": "from pathlib import PurePath",
    "PurePosixPath": "from pathlib import PurePosixPath",
    "UUID": "from uuid import UUID",
}
_MODULES = {
    "math", "datetime", "fractions", "decimal", "collections", "itertools", "operator", "string", "re", "asyncio",
    "pytest",
}  # fmt: skip
_NODES = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp, ast.BinOp, ast.keyword, ast.Load)
_SIGNS = (ast.UAdd, ast.USub)
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv)
_DIGITS = 4  # of base and exponent; such a power is computed quickly
_CLOSE = 1e-9
EXCEPTIONS = frozenset(
    name for name, made in vars(builtins).items() if isinstance(made, type) and issubclass(made, BaseException)
)


def parse_expression(text: str) -> ast.expr | None:
    """The text as an expression; None where it is not one."""
    if len(text) > MOST:
        return None
    try:
        return ast.parse(text.strip(), mode="eval").body
    except UNPARSABLE:
        return None


def is_value(node: ast.AST) -> bool:
    """Is it certainly a value, independent of its context?"""
    if isinstance(node, ast.Constant):
        return node.value is not Ellipsis
    if isinstance(node, ast.Call):
        return is_constructor_call(node) and all(
            is_value(part) for part in (*node.args, *(key.value for key in node.keywords))
        )
    if isinstance(node, ast.Attribute):  # math.pi
        return isinstance(node.value, ast.Name) and node.value.id == "math"
    if isinstance(node, ast.UnaryOp) and not isinstance(node.op, _SIGNS):
        return False
    if isinstance(node, ast.BinOp) and not (isinstance(node.op, _ARITHMETIC) or _is_small_power(node)):
        return False
    if not isinstance(node, _NODES) or (isinstance(node, ast.Dict) and None in node.keys):
        return False
    return all(
        is_value(part)
        for part in ast.iter_child_nodes(node)
        if not isinstance(part, ast.operator | ast.unaryop | ast.expr_context)
    )


def is_constructor_call(node: ast.Call) -> bool:
    """Is it the call of a well-known constructor?"""
    if any(key.arg is None for key in node.keywords):
        return False
    if isinstance(node.func, ast.Name):
        return node.func.id in _BUILT or node.func.id in CONSTRUCTORS
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    return isinstance(owner, ast.Name) and owner.id in ("math", "datetime", "fractions", "decimal", "collections")


def _is_small_power(node: ast.BinOp) -> bool:
    """Is it a power that is computed quickly?"""
    sides = (node.left, node.right)
    return isinstance(node.op, ast.Pow) and all(
        isinstance(side, ast.Constant) and len(repr(side.value)) <= _DIGITS for side in sides
    )


def required_imports(node: ast.AST) -> tuple[str, ...]:
    """The import statements that an expression or statement needs."""
    statements = {}
    for inner in ast.walk(node):
        if isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name) and inner.value.id in _MODULES:
            statements[inner.value.id] = f"import {inner.value.id}"
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and inner.id in CONSTRUCTORS:
            statements.setdefault(inner.id, CONSTRUCTORS[inner.id])
    return tuple(statements.values())


def unknown_names(node: ast.AST, known_names: Collection[str]) -> set[str]:
    """Names that the code reads and that are neither bound in it, nor in `known_names`, nor Python's own."""
    used: set[str] = set()
    bound: set[str] = set()
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name):
            (used if isinstance(inner.ctx, ast.Load) else bound).add(inner.id)
        elif isinstance(inner, ast.arg):
            bound.add(inner.arg)
        elif isinstance(inner, ast.alias):
            bound.add((inner.asname or inner.name).partition(".")[0])
    return {
        name for name in used - bound - set(known_names) - _MODULES - CONSTRUCTORS.keys() if not hasattr(builtins, name)
    }


# -- comparing ----------------------------------------------------------------------------------------------------


def expected_source(source: str) -> str | None:
    """The source to compare a value with: decimal fractions hold to the precision that their digits state.

    Whole numbers such as `2.0` and `1e3` hold to 1e-9. None where the comparison cannot be written.
    """
    node = parse_expression(source)
    if node is None or not is_value(node):
        return None
    digit_units = [_step(ast.get_source_segment(source.strip(), inner) or "") for inner in _floats(node)]
    if not digit_units:
        return source.strip()
    if any(step is None for step in digit_units):
        return None
    step = max(step for step in digit_units if step is not None)
    tolerance = f"rel={_CLOSE}, abs={step / 2}" if step else f"rel={_CLOSE}"
    return f"pytest.approx({source.strip()}, {tolerance})" if _is_flat(node) else None


def _floats(node: ast.AST) -> Iterator[ast.Constant]:
    if isinstance(node, ast.Call):  # float("inf"), Fraction(0.5): exact
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, float | complex):
        yield node
    for inner in ast.iter_child_nodes(node):
        yield from _floats(inner)


def _step(written: str) -> float | None:
    """The unit of a number's last digit; 0 for a whole number, None where it is not a decimal."""
    try:
        number = Decimal(written.replace("_", ""))
    except InvalidOperation:
        return None
    return 0.0 if number == number.to_integral_value() else float(Decimal(1).scaleb(int(number.as_tuple().exponent)))


def _is_flat(node: ast.expr) -> bool:
    """Is it a number or a container of numbers? Only these `pytest.approx` compares."""
    if isinstance(node, ast.List | ast.Tuple):
        return all(_is_number(item) for item in node.elts)
    if isinstance(node, ast.Dict):
        return all(_is_number(item) for item in node.values)
    return _is_number(node)


def _is_number(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        return _is_number(node.operand)
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def are_compatible(first: str, second: str) -> bool:
    """Are two expected values compatible? Numbers may have more or fewer digits."""
    left_node, right_node = (without_approx(parse_expression(text)) for text in (first, second))
    if left_node is None or right_node is None:
        return first == second
    if ast.dump(left_node) == ast.dump(right_node):
        return True
    values = literal_value(left_node) + literal_value(right_node)
    if len(values) < 2 or values[0] == values[1]:
        return True  # also where it cannot be decided
    left, right = values
    digit_units = [_step(ast.unparse(node)) for node in (left_node, right_node)]
    if None in digit_units or not all(isinstance(value, int | float) for value in (left, right)):
        return False
    return bool(abs(left - right) <= max(step or 0.0 for step in digit_units) * (0.5 + _CLOSE))


def without_approx(node: ast.expr | None) -> ast.expr | None:
    """The node without `pytest.approx` around it."""
    is_approx = isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == "approx"
    return node.args[0] if is_approx and isinstance(node, ast.Call) and node.args else node
