"""Recognises test expressions that only make values, and finds the imports that they need."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from math import prod

from greenloop.specs.kinds._stub_view import StubView

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
