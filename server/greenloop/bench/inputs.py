"""More that judges a mutant's repair: the reference's own answers to calls like those of the tests.

A call of literals gives others with one literal changed at a time; what the reference raises for is no requirement.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from typing import Any

from greenloop.bench.mbpp import MODULE, Row

REFERENCE, TESTS = "reference_.py", "test_inputs.py"
# Calls made of one, and of a row in all.
EACH, MOST = 6, 18

_HEAD = f"""\
import {REFERENCE.removesuffix(".py")} as reference
import {MODULE.removesuffix(".py")} as solution


def same(one, other):
    if isinstance(one, float) and isinstance(other, (int, float)):
        return one == other or abs(one - other) <= 1e-6 * max(abs(one), abs(other)) or one != one and other != other
    if type(one) is type(other) and isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def agree(call):
    try:
        wanted = call(reference)
    except Exception:
        return
    assert same(wanted, call(solution))
"""


def judging(row: Row) -> dict[str, str]:
    """The judge's files; none where no test calls the function with literals alone."""
    found = calls(row)
    tests = "".join(
        f"\n\ndef test_{number}():\n    agree(lambda module: module.{call})\n" for number, call in enumerate(found, 1)
    )
    return {REFERENCE: row.reference + "\n", TESTS: _HEAD + tests} if found else {}


def calls(row: Row) -> list[str]:
    """`f(1, 'b')` and so on, in a fixed order, none of them a test's own."""
    own, found = [], []
    for text in row.tests:
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == row.function.name:
                if any(isinstance(each, ast.Starred) for each in node.args) or node.keywords:
                    continue
                try:
                    values = [ast.literal_eval(each) for each in node.args]
                except ValueError:
                    continue
                own.append(_call(row, values))
                found.append([_call(row, each) for each in _others(values)][:EACH])
    every = dict.fromkeys(call for group in found for call in group)
    return [call for call in every if call not in own][:MOST]


def _call(row: Row, values: list[Any]) -> str:
    return f"{row.function.name}({', '.join(map(repr, values))})"


def _others(values: list[Any]) -> Iterator[list[Any]]:
    """Round by round over the arguments, so that each of them has its turn early."""
    varied = [list(_variants(value)) for value in values]
    for turn in range(max(map(len, varied), default=0)):
        for at, variants in enumerate(varied):
            if turn < len(variants):
                other = copy.deepcopy(values)
                other[at] = variants[turn]
                yield other


def _variants(value: Any) -> Iterator[Any]:
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, max(value - 1, 0), value + 4)
    elif isinstance(value, float):
        yield from (value + 1.0, value / 2)
    elif isinstance(value, str):
        yield from (value[::-1], value[:-1], value[1:] + value[:1], value + value[-1:])
    elif isinstance(value, list | tuple):
        yield value[::-1]
        yield value[:-1]
        for at, item in enumerate(value[:2]):
            for other in list(_variants(item))[:1]:
                yield type(value)([*value[:at], other, *value[at + 1 :]])
        yield type(value)([*value, *value[:1]])
    elif isinstance(value, dict):
        yield dict(list(value.items())[:-1])
