"""Which values a test can trust when it compares them."""

from __future__ import annotations

import decimal
import unittest.mock
from collections import Counter
from dataclasses import dataclass

import pytest

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


NEW = {Liar.__eq__.__code__, vars(Pretender)["__instancecheck__"].__code__}


def look(value):
    watch = load("returned_values").Watch(frozenset(), lambda code: code in NEW)
    watch._look(value)
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
        ValueError(1),
        len,
        Honest,
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
        (Odd(), "__instancecheck__"),
    ],
    ids=lambda each: each if isinstance(each, str) else type(each).__name__,
)
def test_what_may_be_equal_as_the_new_code_likes(value, named):
    assert named in look(value)


def test_results_and_arguments_of_watched_functions_are_seen():
    def fill(items):
        items.append(Liar())

    def double(x):
        return x if x < 2 else double(x - 1)

    returned_values = load("returned_values")
    watch = returned_values.Watch(frozenset({fill.__code__, double.__code__}), lambda code: code in NEW)
    for function, argument in ((double, 5), (fill, [])):
        profiled = watch.profile()
        next(profiled)
        function(argument)
        assert list(profiled) == []
    assert (watch.results, watch.intact) == (2, True)  # calls of its own are none of the test's
    assert "__eq__" in watch.unfit
