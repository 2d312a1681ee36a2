"""Tests properties that the model states, one `name: expression` a line, along with the common ones.

The method is the Property-Generated Solver (arXiv 2506.18315). The model sees signature and docstring only.
"""

from __future__ import annotations

import ast
import re

from greenloop.core.ports import Tools
from greenloop.core.python.names import free_names
from greenloop.core.records.model import ChatRequest, Role
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Provenance, Region, Spec
from greenloop.core.text.tokens import estimate_tokens, truncate
from greenloop.plugins.function_calls.literals import parse_expression
from greenloop.plugins.function_calls.signature import FunctionHeader, read_header
from greenloop.project.templates import few_shot_messages
from greenloop_lab.specs.kinds import properties
from greenloop_lab.specs.property_tests import Property

PROVENANCE = Provenance.PROPERTY
ROOM = 600  # tokens of a docstring that the model is shown
TOKENS = 160  # of its answer
MAX_PROPERTIES = 4  # properties of one answer
LONGEST = 300  # characters of one expression
ANSWER = 4000  # characters of an answer that are read

# What an expression may call: nothing that writes, reads, waits or inspects the machine.
_BUILTINS = {
    "abs", "all", "any", "ascii", "bin", "bool", "bytes", "chr", "complex", "dict", "divmod", "enumerate", "filter",
    "float", "frozenset", "hash", "hex", "int", "isinstance", "len", "list", "map", "max", "min", "oct", "ord",
    "pow", "range", "repr", "reversed", "round", "set", "sorted", "str", "sum", "tuple", "type", "zip",
    "ValueError", "TypeError",
}  # fmt: skip
_OFFERED = {
    **{name: f"import {name}" for name in ("math", "re", "string", "itertools", "collections")},
    "Counter": "from collections import Counter",
    "permutations": "from itertools import permutations",
    "combinations": "from itertools import combinations",
    "isclose": "from math import isclose",
    "gcd": "from math import gcd",
    "reduce": "from functools import reduce",
}
_WRITES = {
    "append", "extend", "insert", "pop", "popitem", "remove", "clear", "update", "add", "discard", "setdefault",
    "sort", "reverse", "subtract", "intersection_update", "difference_update", "symmetric_difference_update",
}  # fmt: skip
_NODES = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.Starred)
_LINE = re.compile(r"^[\s\-*•>\d.)#`]*(?P<name>[A-Za-z][\w '/-]{0,50}?)[\s`*]*:\s*(?P<claim>\S.*)$")


async def collect(problem: Problem, tools: Tools) -> Spec:
    """Property tests that can run here, else a doubt. Lets `BudgetExceededError` and the model's own errors through."""

    async def state_properties(head: FunctionHeader) -> tuple[Property, ...]:
        return parse_properties((await tools.ask(question(head))).text, head.name, head.names)

    spec = await properties.collect(problem, tools, state_properties)
    if spec.cases or spec.doubts:
        return spec
    name = problem.regions[0].qualname
    return Spec(doubts=(f"No property of `{name}` is known, and the model's answer names none.",))


def build_spec(region: Region, text: str, module: str, answer: str) -> Spec:
    """The property tests for the function in this text: common ones and those of a model's answer. Pure."""
    head = read_header(region, text)
    stated = parse_properties(answer, head.name, head.names) if head else ()
    return properties.build_spec(region, text, module, stated)


def question(head: FunctionHeader) -> ChatRequest:
    """The one request for a function's properties: signature and docstring, never a body."""
    docstring = truncate(head.docstring, ROOM, estimate_tokens).replace("\n", "\n    ")
    messages = few_shot_messages(
        "specs/stated_properties", name=head.name, signature=head.signature, docstring=docstring
    )
    return ChatRequest(messages=messages, role=Role.TESTER, temperature=0.0, max_tokens=TOKENS)


def parse_properties(answer: str, function: str, parameters: tuple[str, ...]) -> tuple[Property, ...]:
    """The usable properties of an answer, without duplicates, at most `MAX_PROPERTIES`."""
    by_expression: dict[str, Property] = {}
    for row in answer[:ANSWER].splitlines():
        if property_ := _parse_row(row, function, parameters):
            by_expression.setdefault(property_.expression, property_)
    return tuple(by_expression.values())[:MAX_PROPERTIES]


def _parse_row(row: str, function: str, parameters: tuple[str, ...]) -> Property | None:
    match = _LINE.match(row)
    whole_row = row.strip().lstrip("-*•").strip()
    for name, text in ((match["name"], match["claim"]) if match else ("", ""), ("", whole_row)):
        node = _expression(text, function, parameters)
        if node is not None and _is_usable(node, function, parameters):
            expression = ast.unparse(node)
            imports = tuple(line for key, line in _OFFERED.items() if key in free_names(expression) - set(parameters))
            label = " ".join(name.split()).lower() or "claim"
            return Property(name=label, expression=expression, source="model", imports=imports)
    return None


def _expression(text: str, function: str, parameters: tuple[str, ...]) -> ast.expr | None:
    text = text.strip().strip("`*").strip().removeprefix("assert ").rstrip(" ;.,`")
    node = parse_expression(text) if len(text) <= LONGEST else None
    if node is not None and "f" not in parameters:
        for each in ast.walk(node):
            if isinstance(each, ast.Name) and each.id == "f":
                each.id = function
    return node


def _is_usable(node: ast.expr, function: str, parameters: tuple[str, ...]) -> bool:
    return (
        isinstance(node, ast.Compare | ast.BoolOp | ast.UnaryOp | ast.Call | ast.IfExp | ast.BinOp)
        and not any(isinstance(each, _NODES) or _is_forbidden(each) for each in ast.walk(node))
        and free_names(ast.unparse(node)) <= {*parameters, "result", function, *_BUILTINS, *_OFFERED}
        and _is_about_result(node, function, parameters)
        and not _is_trivial(node, function, parameters)
    )


def _is_forbidden(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and (node.attr.startswith("_") or node.attr in _WRITES)


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
    left, right = ast.unparse(node.left), ast.unparse(node.comparators[0])
    return left == right or {left, right} == {own_call, "result"}
