"""Reads the calls of a function in its docstring, with their arguments and results. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from greenloop.core.docstrings.call_lines import closing_position
from greenloop.core.docstrings.documentation import read_examples
from greenloop.core.docstrings.literals import literal_value, parse_expression
from greenloop.specs.properties.signature import FunctionHeader

MOST = 40  # calls that are read


@dataclass(frozen=True, kw_only=True)
class ExampleCalls:
    """Argument values by parameter name, where they are literals, and results.

    `calls` are all calls, `literal_calls` those with only literal arguments.
    """

    arguments: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    results: tuple[Any, ...] = ()
    calls: tuple[str, ...] = ()
    literal_calls: tuple[str, ...] = ()


def read_calls(head: FunctionHeader) -> ExampleCalls:
    """Reads all calls of the docstring: `>>>` lines, asserts, and calls in prose."""
    arguments: dict[str, tuple[Any, ...]] = {}
    calls: dict[str, bool] = {}
    for node in islice(_find_calls(head), MOST):
        calls[ast.unparse(node)] = all(map(literal_value, _arguments(node)))
        for name, argument in _bind_arguments(node, head):
            if value := literal_value(argument):
                arguments[name] = (*arguments.get(name, ()), *value)
    return ExampleCalls(
        arguments=arguments,
        results=tuple(_results(head)),
        calls=tuple(calls),
        literal_calls=tuple(text for text, is_literal in calls.items() if is_literal),
    )


def _find_calls(head: FunctionHeader) -> Iterator[ast.Call]:
    """Yields the calls that have a literal argument."""
    for match in re.finditer(rf"(?<![\w.]){re.escape(head.name)}(?=\()", head.docstring):
        node = parse_expression(head.docstring[match.start() : closing_position(head.docstring, match.end())])
        if isinstance(node, ast.Call) and any(map(literal_value, _arguments(node))):
            yield node


def _arguments(node: ast.Call) -> list[ast.expr]:
    return [*node.args, *(word.value for word in node.keywords)]


def _bind_arguments(node: ast.Call, head: FunctionHeader) -> Iterator[tuple[str, ast.expr]]:
    positional = [each.name for each in head.parameters if each.kind == "plain"][head.is_bound :]
    star = next((each.name for each in head.parameters if each.kind == "star"), "")
    for number, argument in enumerate(node.args):
        if name := positional[number] if number < len(positional) else star:
            yield name, argument
    yield from ((word.arg, word.value) for word in node.keywords if word.arg and word.arg in head.names)


def _results(head: FunctionHeader) -> Iterator[Any]:
    examples = read_examples(head.docstring) or ()
    results = [example.want for example in examples if example.source.strip().startswith(f"{head.name}(")]
    results += re.findall(rf"{re.escape(head.name)}\([^\n]*?\)\s*(?:==|->|→|=>|returns?)\s*([^\n]+)", head.docstring)
    for text in results[:MOST]:
        yield from literal_value(text.strip().rstrip("."))
