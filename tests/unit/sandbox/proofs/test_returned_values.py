"""Which values a test can trust when it compares them."""

from __future__ import annotations

import collections
import decimal
import enum
import functools
import pathlib
import sys
import types
import unittest.mock
import weakref
from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

import pytest
from _pytest.capture import CaptureIO
from _pytest.logging import LogCaptureHandler

from inside import load


class Honest:
    def __init__(self, *items):
        self.items = items


@dataclass
class Data:
    x: object = 1


class Liar:
    def __eq__(self, other):
        return True

    __hash__ = None


class Pretender(type):
    def __instancecheck__(cls, value):
        return True


class Odd(metaclass=Pretender):
    pass


class Slotted:
    __slots__ = ("value",)

    def __init__(self):
        self.value = Liar()


class Color(enum.IntEnum):
    RED = 1


class Pair(NamedTuple):
    first: object
    second: object


KEPT = Honest()
NEW = {Liar.__eq__.__code__, vars(Pretender)["__instancecheck__"].__code__}


def look(value):
    watch = load("returned_values").Watch(lambda code: code in NEW)
    watch.look(value)
    return watch.unfit


@pytest.mark.parametrize(
    "value",
    [
        1,
        "a",
        None,
        [1, (2, {3: {4}})],
        Honest(1),
        Data(),
        Counter("ab"),
        decimal.Decimal(1),
        collections.deque([1]),
        collections.OrderedDict(a=1),
        Pair(1, 2),
        Color.RED,
        pathlib.PurePath("a"),
        types.MappingProxyType({1: 2}),
        ValueError(1),
        len,
        Honest,
        sys,  # with pytest's streams
        Honest(CaptureIO()),  # an object that kept one
        Honest(LogCaptureHandler()),  # one that kept a logger
    ],
    ids=lambda each: type(each).__name__,
)
def test_plain_data_and_honest_classes(value):
    assert look(value) == ""


@pytest.mark.parametrize(
    ("value", "named"),
    [
        (Liar(), "__eq__"),
        ([{"a": (Liar(),)}], "__eq__"),
        (Honest(1, [Liar()]), "__eq__"),
        (Data(Liar()), "__eq__"),
        (unittest.mock.ANY, "ANY"),
        (pytest.approx(1, abs=float("inf")), "ApproxScalar"),
        (type("Same", (), {"__eq__": Liar.__eq__, "__module__": "_pytest.capture"})(), "__eq__"),
        (Odd(), "__instancecheck__"),
        (collections.deque([Liar()]), "__eq__"),
        (collections.OrderedDict(a=Liar()), "__eq__"),
        (Pair(1, Liar()), "__eq__"),
        (Slotted(), "__eq__"),
        (type("Same", (), {"__eq__": bool})(), "__eq__"),
        (type("Same", (int,), {"__eq__": int.__ge__})(), "__eq__"),
        (type("Same", (), {"__eq__": functools.partial(isinstance, 1)})(), "__eq__"),
        (type("Same", (), {"__eq__": type(unittest.mock.ANY).__eq__})(), "__eq__"),
        (type("Same", (type(unittest.mock.ANY),), {})(), "ANY"),
        (weakref.proxy(KEPT), "ProxyType"),
        (types.MappingProxyType({1: Liar()}), "__eq__"),
    ],
    ids=lambda each: each if isinstance(each, str) else type(each).__name__,
)
def test_what_may_be_equal_as_the_new_code_likes(value, named):
    assert named in look(value)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("Liar", "a Liar"),
        ("Inventory", "an Inventory"),
        ("_Order", "an _Order"),
        ("User", "a User"),
        ("Unit", "a Unit"),
        ("Unordered", "an Unordered"),
        ("Hour", "an Hour"),
    ],
)
def test_a_class_is_named_with_the_right_article(name, told):
    assert look(type(name, (), {"__eq__": Liar.__eq__})()) == f"{told}, whose __eq__ the new code defines"


def test_results_and_arguments_of_watched_functions_are_seen():
    def fill(items):
        items.append(Liar())

    def double(x):
        return x if x < 2 else double(x - 1)

    new = {*NEW, fill.__code__, double.__code__}
    watch = load("returned_values").Watch(lambda code: code in new)
    for function, argument in ((double, 5), (fill, [])):
        profiled = watch.profile()
        next(profiled)
        function(argument)
        assert list(profiled) == []
    assert (watch.results, watch.intact) == (2, True)  # calls of its own are none of the test's
    assert "__eq__" in watch.unfit


def test_what_is_replaced_while_new_code_runs_is_named():
    replaced: list = []

    def double(x):
        replaced.append("json.dumps")
        return x

    watch = load("returned_values").Watch(lambda code: code is double.__code__, lambda: [*replaced])
    profiled = watch.profile()
    next(profiled)
    double(1)
    replaced.clear()  # it restores itself before the test ends
    assert list(profiled) == []
    assert "json.dumps was replaced" in watch.unfit


def test_what_is_found_outside_of_tests_counts_for_all_of_them():
    def double(_x):
        return Liar()

    new = {*NEW, double.__code__}
    watch = load("returned_values").Watch(lambda code: code in new)
    profiled = watch.profile(lasting=True)
    next(profiled)
    double(1)
    assert list(profiled) == []
    watch.start()
    assert "__eq__" in watch.unfit
