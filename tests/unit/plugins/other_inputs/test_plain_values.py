"""Values as trees of JSON, by their exact types."""

from __future__ import annotations

import json
from argparse import Namespace
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

import pytest

from greenloop.plugins.other_inputs.plain_values import UnplainError, decode, encode, make_object


class Liar:
    """Equal to everything, and it looks like anything."""

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        raise AssertionError

    __hash__ = None

    def __repr__(self):
        raise AssertionError


class Slotted:
    __slots__ = ("value",)


class Point(NamedTuple):
    x: int
    y: int


PLAIN = [
    None,
    True,
    7,
    2**5000,
    1.5,
    float("inf"),
    "é\ud800",
    b"\x00",
    1j,
    [1, [2]],
    (1,),
    {3, "a"},
    frozenset({1}),
    {(1, 2): [3]},
    date(2026, 1, 1),
    datetime(2026, 1, 1, 12, 30, 0, 5),  # noqa: DTZ001 - without a zone
    timedelta(days=1, microseconds=2),
    Decimal("1.50"),
    Fraction(1, 3),
]


@pytest.mark.parametrize("value", PLAIN, ids=lambda value: type(value).__name__)
def test_there_and_back(value):
    tree = json.loads(json.dumps(encode(value, strict=True)))
    found = decode(tree, make_object)
    assert found == value
    assert type(found) is type(value)


def test_types_that_are_equal_for_python_are_not_here():
    trees = [encode(each) for each in (1, True, 1.0, "1", b"1", [1], (1,), {1}, frozenset({1}), Point(1, 2), (1, 2))]
    assert len({json.dumps(each) for each in trees}) == len(trees)


def test_an_object_is_its_class_and_what_it_holds():
    tree = encode(Liar([1]))
    assert tree == ["object", __name__, "Liar", [["value", ["list", [1]]]]]
    assert encode(Liar([2])) != tree
    made = decode(tree, lambda module, name, held: (module, name, held))
    assert made == (__name__, "Liar", {"value": [1]})
    assert type(make_object("argparse", "Namespace", {"a": 1})) is Namespace
    assert make_object("argparse", "Namespace", {"a": 1}) == Namespace(a=1)


FACTOR = 3


def test_a_function_that_needs_nothing_else_is_made_again():
    tree = json.loads(json.dumps(encode(lambda a, b: min(a, b) < len("ab"), strict=True)))
    made = decode(tree, make_object)
    assert (made(1, 5), made(7, 5)) == (True, False)
    held = decode(tree, lambda module, name, held: (module, name, [*held]))
    assert held == ("", "<lambda>", ["code"])
    for function in (lambda n: n * FACTOR, lambda n: held, lambda n, by=2: n * by, lambda: lambda: FACTOR):
        with pytest.raises(UnplainError):
            encode(function, strict=True)


def test_what_a_subclass_has_counts():
    assert encode(Counter("aab")) != encode(Counter("ab"))
    assert encode(Point(1, 2)) != encode(Point(1, 3))
    assert encode(date(2026, 1, 1)) != encode(date(2026, 1, 2))


def test_rounding_and_iterators():
    assert encode(0.1 + 0.2, digits=9) == encode(0.3, digits=9)
    assert encode(0.1 + 0.2) != encode(0.3)
    assert encode(map(str, [1, 2])) == ["iterator", ["1", "2"]]


def test_what_contains_itself_ends():
    loop: list[object] = []
    loop.append(loop)
    assert encode(loop) == ["list", [["again", "builtins.list"]]]
    same = [1]
    assert encode([same, same]) == ["list", [["list", [1]], ["list", [1]]]]


@pytest.mark.parametrize(
    "value",
    [
        len,
        Slotted(),
        Counter("a"),
        Point(1, 2),
        ValueError(),
        int,
        map(str, []),
        datetime(2026, 1, 1, tzinfo=UTC),
        object(),
    ],
)
def test_what_cannot_be_made_again(value):
    with pytest.raises(UnplainError):
        encode([value], strict=True)
