"""Finds the inverse of a function in its own module, by their names. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from greenloop.core.python.ast_source import FUNCTIONS, parse_module
from greenloop.core.python.stubs import is_stub
from greenloop.plugins.function_calls import signature, value_strategies
from greenloop.plugins.function_calls.signature import FunctionHeader
from greenloop.plugins.function_calls.value_strategies import ParameterStrategy
from greenloop_lab.specs.property_tests import LIBRARY, Property

# forward and backward: the second undoes the first
_INVERSES = (
    ("encode", "decode"), ("compress", "decompress"), ("serialize", "deserialize"), ("escape", "unescape"),
    ("quote", "unquote"), ("pack", "unpack"), ("dump", "load"), ("dumps", "loads"), ("encrypt", "decrypt"),
    ("to_string", "from_string"), ("to_dict", "from_dict"), ("format", "parse"), ("render", "parse"),
    ("stringify", "parse"), ("encipher", "decipher"),
)  # fmt: skip
_NUMBERS = ("int", "integer", "number", "decimal", "dec")


def find_inverse(
    head: FunctionHeader, only_value: ParameterStrategy | None, module_text: str, module: str
) -> Property | None:
    """`backward(forward(x)) == x`, where one of the two is the target and the module implements the other.

    `only_value` is the only value that a call of the target needs.
    """
    target = head.name
    for forward, backward in _pairs(target):
        sibling = backward if target == forward else forward
        node = _is_written(module_text, sibling)
        if node is None or only_value is None:
            continue
        value = only_value if target == forward else _first_argument(node, module_text, module)
        if value is None or value.value_kind.name in ("float", "any"):
            return None  # nearly equal is not equal
        own_call = Property(
            name=f"{backward} undoes {forward}",
            expression=f"{backward}(result) == {value.name}",
            source=LIBRARY,
            module_names=(sibling,),
        )
        if target == forward:
            return own_call
        call = f"{backward}({forward}({value.name}))"
        return replace(own_call, expression=f"result == {value.name}", inputs=(value,), call=call)
    return None


def _pairs(name: str) -> Iterator[tuple[str, str]]:
    """Pairs of names (forward, backward), one of which is this name."""
    for forward, backward in _INVERSES:
        for known_name in (forward, backward):
            if match := re.fullmatch(rf"((?:.*_)?){known_name}((?:_.*)?)", name):
                before, after = match.groups()
                yield f"{before}{forward}{after}", f"{before}{backward}{after}"
    if match := re.fullmatch(r"([a-z0-9]+)_to_([a-z0-9]+)", name):
        # A number has one text, but several texts may be read as the same number.
        number_word = next((each for each in match.groups() if each in _NUMBERS), "")
        if number_word:
            text_word = match[1] if match[2] == number_word else match[2]
            yield f"{number_word}_to_{text_word}", f"{text_word}_to_{number_word}"


def _is_written(text: str, name: str) -> ast.FunctionDef | None:
    parsed = parse_module(text)
    body = parsed.body if isinstance(parsed, ast.Module) else []
    node = next((each for each in body if isinstance(each, FUNCTIONS) and each.name == name), None)
    return node if isinstance(node, ast.FunctionDef) and not is_stub(node) else None


def _first_argument(node: ast.FunctionDef, module_text: str, module: str) -> ParameterStrategy | None:
    """The strategy for the only argument that the inverse function needs."""
    head = signature.header_of(node)
    required = tuple(each for each in head.parameters if not each.default and each.kind != "doublestar")
    if len(required) != 1 or required[0].kind != "plain":
        return None
    head = replace(head, parameters=required)
    strategies, _without = value_strategies.build_strategies(head, module_text, module, {})
    return strategies[0] if strategies else None
