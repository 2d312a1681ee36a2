"""Reads the header of a function, its signature and docstring, and the calls in it; never its body. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice, repeat
from typing import Any

from greenloop.core.documentation import read_examples
from greenloop.core.python.ast_source import FUNCTIONS, Function, function_header, region_definition
from greenloop.core.python.literals import literal_value
from greenloop.core.records.spec import Region
from greenloop.plugins.function_calls.brackets import closing_position
from greenloop.plugins.function_calls.literals import parse_expression


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """`kind` is plain, keyword (only), star or doublestar; `annotation` and `default` are source text, or empty."""

    name: str
    kind: str = "plain"
    annotation: str = ""
    default: str = ""


@dataclass(frozen=True, kw_only=True)
class FunctionHeader:
    """`line` is the file's line with the name; `is_bound`: it is called on an object or a class (`self`, `cls`)."""

    name: str
    parameters: tuple[Parameter, ...]
    returns: str
    docstring: str
    signature: str
    line: int
    is_bound: bool = False
    is_async: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.parameters)


def read_header(region: Region, text: str) -> FunctionHeader | None:
    """Reads the header; None where the region's lines have no readable function. The rest of the file may be broken."""
    node, offset = region_definition(text, region.start, region.end) or (None, 0)
    return header_of(node, offset, is_method="." in region.qualname) if isinstance(node, FUNCTIONS) else None


def header_of(node: Function, offset: int = 0, *, is_method: bool = False) -> FunctionHeader:
    """The header of a function whose line numbers are `offset` less than those of the file."""
    is_static = any(isinstance(each, ast.Name) and each.id == "staticmethod" for each in node.decorator_list)
    return FunctionHeader(
        name=node.name,
        parameters=_parameters(node.args),
        returns=_annotation(node.returns),
        docstring=ast.get_docstring(node) or "",
        signature=f"{function_header(node)}:",
        line=offset + node.lineno,
        is_bound=is_method and not is_static,
        is_async=isinstance(node, ast.AsyncFunctionDef),
    )


def _parameters(arguments: ast.arguments) -> tuple[Parameter, ...]:
    positional = [*arguments.posonlyargs, *arguments.args]
    no_defaults = [None] * (len(positional) - len(arguments.defaults))
    parameters = [
        *zip(positional, repeat("plain"), [*no_defaults, *arguments.defaults], strict=False),
        (arguments.vararg, "star", None),
        *zip(arguments.kwonlyargs, repeat("keyword"), arguments.kw_defaults, strict=False),
        (arguments.kwarg, "doublestar", None),
    ]
    return tuple(
        Parameter(
            name=node.arg,
            kind=kind,
            annotation=_annotation(node.annotation),
            default=ast.unparse(default) if default else "",
        )
        for node, kind, default in parameters
        if node
    )


def _annotation(node: ast.expr | None) -> str:
    """An annotation's source; one that is entirely quoted loses its quotes."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.strip()
    return ast.unparse(node) if node else ""


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
