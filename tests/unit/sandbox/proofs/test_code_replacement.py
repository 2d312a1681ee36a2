"""What is put in the place of a changed function."""

from __future__ import annotations

import asyncio
import math

import pytest

from inside import load


@pytest.fixture
def code_replacement():
    return load("code_replacement")


@pytest.mark.parametrize(
    "value",
    [True, 3, 10**400, 2.5, math.inf, 1e300, 1j, "a", b"a", [1], (1,), {1}, frozenset(), {"a": 1}, None],
    ids=repr,
)
def test_a_wrong_value_is_of_the_same_kind_and_not_equal(code_replacement, value):
    wrong = code_replacement.wrong(value)
    assert wrong != value
    assert value is None or type(wrong) is type(value)


def test_nothing_equal_is_made_of_what_is_no_number_or_no_plain_value(code_replacement):
    assert code_replacement.wrong(math.nan) == 0
    assert code_replacement.wrong(object()) is None


def outer(k):
    def add(a, b=2, *, c=1):
        if a < 0:
            raise ValueError
        return a + b + c + k

    return add


def count():
    yield 1
    yield 2


async def wait():
    return "x"


class Box:
    def items(self):
        return [1]


def test_results_become_wrong_for_every_kind_of_function(code_replacement):
    def replace(function):
        function.__code__ = code_replacement.code_instead(function, code_replacement.WRONG)
        return function

    add = replace(outer(3))
    assert (add(1), add(1, c=5), add(-1)) == (8, 12, None)  # no exception, where there was one
    assert list(replace(count)()) == [2, 3, None]
    assert asyncio.run(replace(wait)()) == "x~"
    replace(Box.items)
    assert Box().items() == [1, None]


def test_a_function_that_does_nothing(code_replacement):
    function = outer(3)
    function.__code__ = code_replacement.code_instead(function, code_replacement.NOTHING)
    assert function(1) is None
