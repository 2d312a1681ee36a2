"""Relations that finished code keeps: a result stays, named inputs have an order, a parameter counts in its range."""

from __future__ import annotations

import ast

import pytest

from greenloop.plugins.other_inputs.metamorphic import (
    contradicts_order,
    described_calls,
    ignores_range,
    is_steady,
    repeated_call,
)
from greenloop.plugins.other_inputs.varied_inputs import Call

NEWER = 'def newer(a, b):\n    """Is it newer? `1.10` is newer than `1.9`."""\n'
WRITE = 'def write(number, base):\n    """The number in base 2 to 6."""\n'


def call(*positional):
    return Call(function=0, positional=positional)


def node(text):
    return ast.parse(text).body[0]


@pytest.mark.parametrize(
    ("text", "tested", "calls"),
    [
        (NEWER, call("2", "1"), [("1.10", "1.9"), ("1.9", "1.10")]),
        (NEWER, call(2.0, 1.0), [(1.1, 1.9), (1.9, 1.1)]),
        (NEWER, call([2], [1]), []),
        (NEWER, call("2"), []),
        (NEWER.replace(" is newer than ", " or "), call("2", "1"), []),
        (WRITE, call(5, 3), [(5, 2), (5, 4), (5, 5), (5, 6)]),
        (WRITE, call(5, "3"), []),
        (WRITE.replace("base 2", "digits 2"), call(5, 3), []),
    ],
)
def test_calls_that_a_description_suggests(text, tested, calls):
    name = text[4 : text.index("(")]
    assert [each.positional for each in described_calls([name], text, [tested])] == calls


@pytest.mark.parametrize(
    ("first", "result", "repeated"),
    [([1], [2], ([2],)), ((1,), (2,), ((2,),)), ([1], (2,), None), ("a", "b", None), (1, 2, None), ([1], None, None)],
)
def test_a_container_may_be_given_again(first, result, repeated):
    found = repeated_call(call(first), result)
    assert (found and found.positional) == repeated


@pytest.mark.parametrize(
    ("results", "steady"),
    [
        ([([2, 1], [1, 2], [1, 2])], True),
        ([([1, 2], [1, 2], [1, 2])], False),  # nothing was changed at all
        ([([2, 1], [1, 2], [1, 2]), ([3, 2, 1], [2, 1, 3], [1, 2, 3])], False),
        ([], False),
    ],
)
def test_results_that_stay(results, steady):
    assert is_steady([(call(first), result, again) for first, result, again in results]) is steady


@pytest.mark.parametrize(("answers", "is_sign"), [((True, False), False), ((False, False), True), ((False,), False)])
def test_an_order_that_is_not_kept(answers, is_sign):
    keys = [call(*each).key for each in (("1.10", "1.9"), ("1.9", "1.10"))]
    sentence = contradicts_order(node(NEWER), dict(zip(keys, answers, strict=False)), call("2", "1"))
    assert sentence == ("does not tell '1.10' from '1.9', which its description orders" if is_sign else "")


def write_honestly(number, base):
    return (number, base)


def write_by_tests(number, base):
    return (number, base if base == 3 else 0)


@pytest.mark.parametrize(
    ("old", "new", "is_sign"),
    [
        (lambda number, base: (number, 0), write_by_tests, True),
        (lambda number, base: (number, 0), write_honestly, False),
        (lambda number, base: (number, base + 1), write_by_tests, False),  # the own code has read it
        (lambda number, base: (number, 9), write_by_tests, False),  # and these were wrong as well
    ],
)
def test_a_parameter_that_counts_for_the_tests_alone(old, new, is_sign):
    tested = [call(5, 3)]
    calls = [call(5, base) for base in range(2, 7)]
    answers = [{each.key: side(*each.positional) for each in calls} for side in (old, new)]
    sentence = ignores_range(node(WRITE), tested, *answers)
    assert sentence == ("takes `base` into account for no other value than 3" if is_sign else "")
