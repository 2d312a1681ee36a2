"""The calls of a function that its docstring shows, with their arguments and what they give. Pure."""

from __future__ import annotations

import ast
import doctest
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from greenloop.core.source import tree
from greenloop.specs._function import Head

MOST = 40  # calls that are looked at
LONGEST = 2000  # characters of one


@dataclass(frozen=True, kw_only=True)
class Shown:
    """Values by parameter name, as far as they are literals, and what calls give.

    `calls` are all of them, `whole` those of which every argument is a literal.
    """

    arguments: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    results: tuple[Any, ...] = ()
    calls: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()


def read(head: Head) -> Shown:
    """Everything that the docstring shows: `>>>` lines, asserts, and calls in prose."""
    arguments: dict[str, list[Any]] = {}
    calls: dict[str, bool] = {}
    for node in _calls(head):
        calls[ast.unparse(node)] = all(map(_literal, [*node.args, *(word.value for word in node.keywords)]))
        for name, value in _bound(node, head):
            arguments.setdefault(name, []).append(value)
    return Shown(
        arguments={name: tuple(values) for name, values in arguments.items()},
        results=tuple(_results(head)),
        calls=tuple(calls),
        whole=tuple(text for text, whole in calls.items() if whole),
    )


def _calls(head: Head) -> Iterator[ast.Call]:
    found = 0
    for match in re.finditer(rf"(?<![\w.]){re.escape(head.name)}\(", head.docstring):
        rest = head.docstring[match.start() : match.start() + LONGEST]
        for end in (place.end() for place in re.finditer(r"\)", rest)):
            parsed = tree(rest[:end])
            only = parsed.body[0] if isinstance(parsed, ast.Module) and parsed.body else None
            if isinstance(only, ast.Expr) and isinstance(only.value, ast.Call):
                if any(_literal(each) for each in (*only.value.args, *(word.value for word in only.value.keywords))):
                    found += 1
                    yield only.value
                break
        if found >= MOST:
            return


def _literal(node: ast.expr) -> bool:
    return bool(_value(node))


def _value(node: ast.expr) -> tuple[Any, ...]:
    """The value of a literal, in a tuple; nothing where it is none."""
    try:
        return (ast.literal_eval(node),)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return ()


def _bound(node: ast.Call, head: Head) -> Iterator[tuple[str, Any]]:
    plain = [each.name for each in head.parameters if each.kind == "plain"]
    plain = plain[1:] if head.bound else plain
    star = next((each.name for each in head.parameters if each.kind == "star"), "")
    for number, argument in enumerate(node.args):
        name = plain[number] if number < len(plain) else star
        if name and (value := _value(argument)):
            yield name, value[0]
    for word in node.keywords:
        if word.arg in head.names and (value := _value(word.value)):
            yield word.arg, value[0]


def _results(head: Head) -> Iterator[Any]:
    try:
        parsed = doctest.DocTestParser().get_examples(head.docstring)
    except ValueError:
        parsed = []
    wanted = [example.want for example in parsed if example.source.strip().startswith(f"{head.name}(")]
    wanted += re.findall(rf"{re.escape(head.name)}\([^\n]*?\)\s*(?:==|->|→|=>|returns?)\s*([^\n]+)", head.docstring)
    for text in wanted[:MOST]:
        try:
            yield ast.literal_eval(text.strip().rstrip("."))
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            continue
