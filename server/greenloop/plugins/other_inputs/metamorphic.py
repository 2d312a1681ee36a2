"""Finds inputs on which new code contradicts itself or the words of its description; pure functions.

Three relations hold for finished code and are easily broken by code that stops where its tests do: a result that is
not changed when it is given again, an order that two named inputs have, and a parameter that counts in its whole range.
It must not know where candidates come from.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from greenloop.core.python.ast_source import FUNCTIONS, Function, find_definitions, parse_module
from greenloop.plugins.other_inputs.varied_inputs import Call

CONTAINERS = (list, tuple, set, dict)
LEAST_IGNORED = 4  # values of a parameter that all count for nothing
MOST_VALUES = 12  # of a range
_ORDER = re.compile(r"`+([^`\s]+)`+ (?:is|comes|goes|sorts) (?:\w+er than|before|after|above|below) `+([^`\s]+)`+")
_RANGE = re.compile(r"(\w+)`* (?:from |between |of |in )?(\d{1,6}) (?:to|and|through) (\d{1,6})\b")


def described_calls(functions: Sequence[str], text: str, tested: Sequence[Call]) -> list[Call]:
    """Returns the calls that descriptions suggest: two inputs in both orders, a parameter in its whole range."""
    found = []
    for number, node in _nodes(functions, text):
        own = [call for call in tested if call.function == number]
        for call in own[:1]:
            found += [replace(call, positional=pair) for pair in _pairs(node, call)]
        for place, values in _ranges(node, own):
            found += [_with(own[-1], place, value) for value in values[:MOST_VALUES]]
    return found


def repeated_call(call: Call, result: Any) -> Call | None:
    """The call with its result in place of the first argument; None where that is no container of the same type."""
    first = call.positional[0] if call.positional else None
    if type(first) not in CONTAINERS or type(result) is not type(first):
        return None
    return replace(call, positional=(result, *call.positional[1:]))


def contradicts_order(node: Function, answers: Mapping[str, object], call: Call) -> str:
    """Says that the two inputs of a description get one answer in both orders; else empty. `answers` by key of call."""
    for first, second in _pairs(node, call):
        keys = [replace(call, positional=pair).key for pair in ((first, second), (second, first))]
        if all(key in answers for key in keys) and answers[keys[0]] == answers[keys[1]]:
            return f"does not tell {first!r} from {second!r}, which its description orders"
    return ""


def ignores_range(node: Function, tested: Sequence[Call], old: Mapping[str, object], new: Mapping[str, object]) -> str:
    """Says that a parameter counts for the values of tests alone, where its description has a range; else empty.

    The own code must not have read it either: else the other values may well be right as they are.
    """
    for place, values in _ranges(node, tested):
        calls = {value: _with(tested[-1], place, value).key for value in values[:MOST_VALUES]}
        used = {_value_at(call, place): _with(tested[-1], place, _value_at(call, place)).key for call in tested}
        before = [old[key] for key in (*calls.values(), *used.values()) if key in old]
        after = [new[key] for key in calls.values() if key in new]
        own = [new[key] for key in used.values() if key in new]
        if len(after) < LEAST_IGNORED or any(each != before[0] for each in (*before, *after)):
            continue
        if any(each != before[0] for each in own):
            name = _parameters(node)[place]
            return f"takes `{name}` into account for no other value than {', '.join(map(repr, used))}"
    return ""


def is_steady(results: Sequence[tuple[Call, object, object]]) -> bool:
    """Do the results of all these calls stay when they are given again, and is one not its argument?

    Each is a call, its result, and the result of the call with that in place of the first argument.
    """
    is_changed = any(call.positional[0] != result for call, result, _ in results)
    return is_changed and all(result == again for _, result, again in results)


def _nodes(functions: Sequence[str], text: str) -> Iterator[tuple[int, Function]]:
    module = parse_module(text)
    if not isinstance(module, SyntaxError):
        nodes = dict(find_definitions(module.body))
        for number, name in enumerate(functions):
            if isinstance(node := nodes.get(name), FUNCTIONS):
                yield number, node


def _parameters(node: Function) -> list[str]:
    return [each.arg for each in (*node.args.posonlyargs, *node.args.args)]


def _pairs(node: Function, call: Call) -> Iterator[tuple[Any, Any]]:
    """The two inputs that the description orders, in both orders, as values of the types of a test's arguments."""
    kinds = [type(each) for each in call.positional]
    if kinds not in ([str, str], [int, int], [float, float]) or call.named:
        return
    for first, second in _ORDER.findall(ast.get_docstring(node) or ""):
        try:
            pair = kinds[0](first), kinds[0](second)
        except ValueError:
            continue
        yield pair
        yield pair[::-1]


def _ranges(node: Function, tested: Sequence[Call]) -> Iterator[tuple[int, list[int]]]:
    """Each parameter of which the description has a range: its place, and the values that no test uses."""
    names = _parameters(node)
    for name, low, high in _RANGE.findall((ast.get_docstring(node) or "").partition("\n\n")[0]):
        place = names.index(name) if name in names else len(names)
        used = [_value_at(call, place) for call in tested]
        values = [each for each in range(int(low), min(int(high), int(low) + 1000) + 1) if each not in used]
        if used and values and all(type(each) is int for each in used):
            yield place, values


def _value_at(call: Call, place: int) -> Any:
    return call.positional[place] if place < len(call.positional) else None


def _with(call: Call, place: int, value: Any) -> Call:
    return replace(call, positional=(*call.positional[:place], value, *call.positional[place + 1 :]))
