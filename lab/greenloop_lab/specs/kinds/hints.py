"""Turns the return type hint into light tests: the docstring's calls return the annotated type.

These tests must hold but prove little, so they only come with other tests. They check what a call returns, not which
input is allowed. Where the docstring shows no call, one is made of small plain values.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from greenloop.core.generated_tests import Check, build_test_file
from greenloop.core.ports import Tools
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Provenance, Region, Spec
from greenloop.plugins.function_calls import signature, value_kinds
from greenloop.plugins.function_calls.signature import FunctionHeader
from greenloop.plugins.function_calls.value_kinds import ValueKind
from greenloop.project import sources
from greenloop_lab.specs import type_hints

KIND = "hint"
PROVENANCE = Provenance.HINT
MOST = 4  # calls that are tested
_SMALL = {
    "int": "1", "float": "1.5", "str": "'ab'", "bool": "True", "bytes": "b'ab'", "any": "1", "none": "None",
    "complex": "1j",
}  # fmt: skip
_AROUND = {"list": "[{0}, {0}]", "tuples": "({0}, {0})", "set": "{{{0}}}", "frozenset": "frozenset({{{0}}})"}


async def collect(problem: Problem, tools: Tools) -> Spec:
    """The cases; none without other cases, or where the annotation cannot be tested."""
    del tools
    region = problem.regions[0]
    if not problem.spec.cases:
        return Spec()
    return build_spec(region, problem.files[region.path], sources.import_name_in_tests(region.path, problem.root))


def build_spec(region: Region, text: str, module: str) -> Spec:
    """The tests of the function in this text; a doubt where its own examples are not of that type. Pure."""
    head = signature.read_header(region, text)
    expression = type_hints.type_check_expression(head.returns, "result") if head else ""
    if head is None or head.is_bound or head.is_async or not expression:
        return Spec()
    examples = signature.read_calls(head)
    mismatches = [value for value in examples.results if not type_hints.is_of_type(head.returns, value)]
    if mismatches:
        doubt = f"The docstring's example gives {mismatches[0]!r}, which is not of the annotated type {head.returns}."
        return Spec(doubts=(doubt,))
    calls = examples.literal_calls[:MOST] or _invented_call(head, text)
    return build_test_file(region, module, KIND, [_check(call, expression, head) for call in calls])


def _check(call: str, expression: str, head: FunctionHeader) -> Check:
    ignored = ["except NotImplementedError:", "    raise", "except Exception:", "    return"]
    body = ["try:", f"    result = {call}", *ignored, f"assert {expression}"]
    shown = f"{call} gives {head.returns}"
    return Check(body="\n".join(body), line=head.line, provenance=Provenance.HINT, shown=shown)


def _invented_call(head: FunctionHeader, text: str) -> Sequence[str]:
    """One call with small values by the annotations; none where one is missing or unsupported."""
    arguments = []
    for parameter in head.parameters:
        if parameter.default or parameter.kind in ("star", "doublestar"):
            continue
        kind = value_kinds.kind_of_annotation(parameter.annotation, text)
        value = _small_value(kind) if kind is not None else ""
        if not value:
            return ()
        arguments.append(f"{parameter.name}={value}" if parameter.kind == "keyword" else value)
    return (ast.unparse(ast.parse(f"{head.name}({', '.join(arguments)})")),) if arguments else ()


def _small_value(kind: ValueKind) -> str:
    """The source of a small value; empty for an unsupported kind."""
    if kind.name == "union":
        return next(filter(None, map(_small_value, kind.parts)), "")
    if kind.name == "literal":
        return kind.text.split(",")[0].strip()
    parts = [_small_value(each) for each in kind.parts]
    if "" in parts:
        return ""
    if kind.name in _AROUND:
        return _AROUND[kind.name].format(*(parts or ["1"]))
    if kind.name == "tuple":
        return f"({', '.join(parts)},)"
    if kind.name == "dict":
        return "{" + ": ".join(parts or ["'ab'", "1"]) + "}"
    return _SMALL.get(kind.name, "")
