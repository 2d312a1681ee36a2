"""Reads the calls of a function in its docstring, with their arguments and results. Pure."""

from __future__ import annotations

import ast
import doctest
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from greenloop.core.python.ast_source import parse_module
from greenloop.specs.properties.signature import FunctionHeader

MOST = 40  # calls that are read
LONGEST = 2000  # characters of one


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
    arguments: dict[str, list[Any]] = {}
    calls: dict[str, bool] = {}
    for node in _call_texts(head):
        calls[ast.unparse(node)] = all(map(_literal, [*node.args, *(word.value for word in node.keywords)]))
        for name, value in _bind_arguments(node, head):
            arguments.setdefault(name, []).append(value)
    return ExampleCalls(
        arguments={name: tuple(values) for name, values in arguments.items()},
        results=tuple(_results(head)),
        calls=tuple(calls),
        literal_calls=tuple(text for text, is_literal in calls.items() if is_literal),
    )


def _call_texts(head: FunctionHeader) -> Iterator[ast.Call]:
    count = 0
    for match in re.finditer(rf"(?<![\w.]){re.escape(head.name)}\(", head.docstring):
        rest = head.docstring[match.start() : match.start() + LONGEST]
        for end in (bracket.end() for bracket in re.finditer(r"\)", rest)):
            parsed = parse_module(rest[:end])
            statement = parsed.body[0] if isinstance(parsed, ast.Module) and parsed.body else None
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
                if any(
                    _literal(each)
                    for each in (*statement.value.args, *(word.value for word in statement.value.keywords))
                ):
                    count += 1
                    yield statement.value
                break
        if count >= MOST:
            return


def _literal(node: ast.expr) -> bool:
    return bool(_value(node))


def _value(node: ast.expr) -> tuple[Any, ...]:
    """The value of a literal, in a tuple; an empty tuple if it is not a literal."""
    try:
        return (ast.literal_eval(node),)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return ()


def _bind_arguments(node: ast.Call, head: FunctionHeader) -> Iterator[tuple[str, Any]]:
    positional = [each.name for each in head.parameters if each.kind == "plain"]
    positional = positional[1:] if head.is_bound else positional
    star = next((each.name for each in head.parameters if each.kind == "star"), "")
    for number, argument in enumerate(node.args):
        name = positional[number] if number < len(positional) else star
        if name and (value := _value(argument)):
            yield name, value[0]
    for word in node.keywords:
        if word.arg in head.names and (value := _value(word.value)):
            yield word.arg, value[0]


def _results(head: FunctionHeader) -> Iterator[Any]:
    try:
        examples = doctest.DocTestParser().get_examples(head.docstring)
    except ValueError:
        examples = []
    results = [example.want for example in examples if example.source.strip().startswith(f"{head.name}(")]
    results += re.findall(rf"{re.escape(head.name)}\([^\n]*?\)\s*(?:==|->|→|=>|returns?)\s*([^\n]+)", head.docstring)
    for text in results[:MOST]:
        try:
            yield ast.literal_eval(text.strip().rstrip("."))
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            continue
