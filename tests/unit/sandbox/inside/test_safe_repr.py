"""Values as text, without running anybody's code."""

from __future__ import annotations

import collections
import datetime as dt
import decimal
import enum
import importlib.util
from dataclasses import dataclass
from typing import NamedTuple

import pytest

from greenloop_sandbox import payload


@pytest.fixture(scope="module")
def safe_repr():
    spec = importlib.util.spec_from_file_location("safe_repr", payload.folder() / "safe_repr.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Rude:
    def __init__(self):
        self.a = 1

    def __repr__(self):
        raise AssertionError("nobody may call this")

    __str__ = __len__ = __iter__ = __eq__ = __hash__ = __repr__


class RudeList(list):
    __repr__ = __iter__ = __len__ = Rude.__repr__


class RudeText(str):
    __slots__ = ()
    __repr__ = __str__ = __getitem__ = __len__ = Rude.__repr__


class RudeNumber(int):
    __repr__ = __str__ = __add__ = __index__ = Rude.__repr__


class Liar:
    @property
    def __dict__(self):
        raise ValueError("no")


class Empty:
    pass


class Color(enum.Enum):
    RED = 1


@dataclass
class Point:
    x: int
    y: object


class Pair(NamedTuple):
    a: int
    b: int


VALUES = [
    (None, "None"),
    (True, "True"),
    (1.5, "1.5"),
    ("a'b", '"a\'b"'),
    (b"x", "b'x'"),
    ([1, [2, (3,)]], "[1, [2, (3,)]]"),
    (set(), "set()"),
    ({1}, "{1}"),
    (frozenset([1]), "frozenset({1})"),
    ({"a": {1: None}}, "{'a': {1: None}}"),
    (collections.deque([1]), "deque([1])"),
    (collections.Counter("aa"), "Counter({'a': 2})"),
    (Pair(1, 2), "Pair((1, 2))"),
    (Point(1, Rude()), "Point(x=1, y=Rude(a=1))"),
    (RudeList([1, Rude()]), "RudeList([1, Rude(a=1)])"),
    (Empty(), "<Empty>"),
    (Color.RED, "Color.RED"),
    (RudeText("a" * 500), "RudeText('" + "a" * 87 + "..."),
    (RudeNumber(5), "RudeNumber(5)"),
    (ValueError("x", Rude()), "ValueError('x', Rude(a=1))"),
    (dt.date(2020, 1, 2), "datetime.date(2020, 1, 2)"),
    (decimal.Decimal("1.5"), "Decimal('1.5')"),
    (Point, "<class Point>"),
    (len, "<builtin_function_or_method len>"),
    (dataclass, "<function dataclass>"),
    (collections, "<module collections>"),
    (-(10**5000), "<int of 16610 bits>"),
    ([[[[[1]]]]], "[[[[...]]]]"),
    (Liar(), "<Liar: ValueError>"),
]


@pytest.mark.parametrize(("value", "text"), VALUES, ids=[text for _value, text in VALUES])
def test_values_are_shown(safe_repr, value, text):
    assert safe_repr.SafeRepr().show(value) == text


def test_big_values_are_cut_and_not_walked(safe_repr):
    show = safe_repr.SafeRepr().show
    endless: list = []
    endless.append(endless)
    for value in ("x" * 10**6, list(range(10**6)), dict.fromkeys(range(10**5), "y" * 50), [endless] * 50):
        assert len(show(value)) == 100
    assert show(endless) == "[[[[...]]]]"


def test_libraries_are_asked_only_for_so_long(safe_repr):
    shower = safe_repr.SafeRepr(seconds=0.0)
    assert shower.show(dt.date(2020, 1, 2)) == "<date>"
