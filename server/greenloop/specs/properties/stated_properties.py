"""Parses the properties that a model states, one `name: expression` a line. Pure; runs nothing."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from greenloop.core.python.ast_source import parse_module

MAX_PROPERTIES = 4  # properties of one answer
LONGEST = 300  # characters of one expression
ANSWER = 4000  # characters of an answer that are read

# What an expression may call: nothing that writes, reads, waits or inspects the machine.
_BUILTINS = set(
    re.findall(
        r"\w+",
        """abs all any ascii bin bool bytes chr complex dict divmod enumerate filter float frozenset hash hex int
        isinstance len list map max min oct ord pow range repr reversed round set sorted str sum tuple type zip
        ValueError TypeError""",
    )
)
_MODULES = {"math": "import math", "re": "import re", "string": "import string", "itertools": "import itertools"}
_OFFERED = {
    **_MODULES,
    "collections": "import collections",
    "Counter": "from collections import Counter",
    "permutations": "from itertools import permutations",
    "combinations": "from itertools import combinations",
    "isclose": "from math import isclose",
    "gcd": "from math import gcd",
    "reduce": "from functools import reduce",
}
_WRITES = set(
    re.findall(
        r"\w+",
        """append extend insert pop popitem remove clear update add discard setdefault sort reverse subtract
        intersection_update difference_update symmetric_difference_update""",
    )
)
_NODES = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.Starred)
_LINE = re.compile(r"^[\s\-*•>\d.)#`]*(?P<name>[A-Za-z][\w '/-]{0,50}?)[\s`*]*:\s*(?P<claim>\S.*)$")


@dataclass(frozen=True, kw_only=True)
class StatedProperty:
    """`expression` uses the parameters, `result` and the function's own name; `imports` are statements it needs."""

    name: str
    expression: str
    imports: tuple[str, ...] = ()


def parse_properties(answer: str, function: str, parameters: tuple[str, ...]) -> tuple[StatedProperty, ...]:
    """The usable properties of an answer, without duplicates, at most `MAX_PROPERTIES`."""
    by_expression: dict[str, StatedProperty] = {}
    for row in answer[:ANSWER].splitlines():
        if (claim := _parse_row(row, function, parameters)) and claim.expression not in by_expression:
            by_expression[claim.expression] = claim
    return tuple(by_expression.values())[:MAX_PROPERTIES]


def _parse_row(row: str, function: str, parameters: tuple[str, ...]) -> StatedProperty | None:
    match = _LINE.match(row)
    name_before_colon = " ".join(match["name"].split()).lower() if match else ""
    whole_row = row.strip().lstrip("-*•").strip()
    for name, text in ((name_before_colon, match["claim"] if match else ""), ("", whole_row)):
        node = _expression(text, function, parameters)
        if node is not None and _is_usable(node, function, parameters):
            expression = ast.unparse(node)
            imports = tuple(line for key, line in _OFFERED.items() if key in free_names(expression) - set(parameters))
            return StatedProperty(name=name or "claim", expression=expression, imports=imports)
    return None


def _expression(text: str, function: str, parameters: tuple[str, ...]) -> ast.expr | None:
    text = text.strip().strip("`*").strip().removeprefix("assert ").rstrip(" ;.,`")
    if not text or len(text) > LONGEST:
        return None
    parsed = parse_module(text)
    statement = parsed.body[0] if isinstance(parsed, ast.Module) and len(parsed.body) == 1 else None
    if not isinstance(statement, ast.Expr):
        return None
    own_tree = ast.parse(text, mode="eval").body  # trees of `tree` are shared
    if "f" not in parameters and function != "f":
        for node in ast.walk(own_tree):
            if isinstance(node, ast.Name) and node.id == "f":
                node.id = function
    return own_tree


def _is_usable(node: ast.expr, function: str, parameters: tuple[str, ...]) -> bool:
    if any(isinstance(each, _NODES) for each in ast.walk(node)):
        return False
    if not isinstance(node, ast.Compare | ast.BoolOp | ast.UnaryOp | ast.Call | ast.IfExp | ast.BinOp):
        return False
    bound_names = set(_bound_names(node))
    known_names = {*parameters, "result", function, *_BUILTINS, *_OFFERED, *bound_names}
    if any(isinstance(each, ast.Name) and each.id not in known_names for each in ast.walk(node)):
        return False
    if any(isinstance(each, ast.Attribute) and _is_forbidden(each) for each in ast.walk(node)):
        return False
    return _is_about_result(node, function, parameters) and not _is_trivial(node, function, parameters)


def _bound_names(node: ast.AST) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            yield each.id
        elif isinstance(each, ast.arg):
            yield each.arg


def _is_forbidden(node: ast.Attribute) -> bool:
    return node.attr.startswith("_") or node.attr in _WRITES


def _is_about_result(node: ast.expr, function: str, parameters: tuple[str, ...]) -> bool:
    """Is it about the result for any input? A call with fixed values is only an example."""
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and each.id == "result":
            return True
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id == function:
            names = {inner.id for inner in ast.walk(each) if isinstance(inner, ast.Name)} - {function}
            if names & set(parameters):
                return True
    return False


def _is_trivial(node: ast.expr, function: str, parameters: tuple[str, ...]) -> bool:
    """Is it true of every function, such as `result == f(xs)`, or are both sides equal?"""
    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        return False
    own_call = f"{function}({', '.join(parameters)})"
    sides = {
        "result" if text == own_call else text for text in (ast.unparse(node.left), ast.unparse(node.comparators[0]))
    }
    return len(sides) == 1


def free_names(expression: str) -> set[str]:
    """Names that an expression reads but does not bind."""
    node = ast.parse(expression, mode="eval")
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}
    return names - set(_bound_names(node))
