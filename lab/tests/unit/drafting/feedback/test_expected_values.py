"""The values that a plan expects, as small models write them."""

from __future__ import annotations

import pytest

from greenloop_lab.drafting.feedback import _expected_values as expected
from greenloop_lab.drafting.feedback._plans import ShownTest

ONE = ShownTest(case="t.py::one", text="assert f([1, 2]) == 3")
TWO = ShownTest(case="t.py::two", text="assert f([]) == 0")


@pytest.mark.parametrize(
    ("row", "pairs"),
    [
        ("total = 1", [("total", "1")]),
        ("- `total` = 1.", [("total", "1")]),
        ("1. i = 1, total = 0 + 1 = 1", [("i", "1"), ("total", "1")]),
        ("items = [1, 2], total = 0", [("items", "[1, 2]"), ("total", "0")]),
        ("total -> 3 (1 + 2)", [("total", "3")]),
        ("total becomes 3 because 1 + 2 is 3", [("total", "3")]),
        ("name: 'a, b'", [("name", "'a, b'")]),
        ("**return**: 3", [("return", "3")]),
        ("It returns 3.", [("return", "3")]),
        ("returned value = [1, 2]", [("return", "[1, 2]")]),
        ("total = the sum of all", []),
        ("total == 3", []),
        ("Follow the plan", []),
        ("", []),
    ],
)
def test_rows(row, pairs):
    assert expected.read_pairs(row) == pairs


def test_values_go_to_their_tests():
    answer = "Here:\nx = 9\n**Test 1:** assert f([1, 2]) == 3\ntotal = 1\ntotal = 3\nTest 2: total = 0\nreturns 0\nTest 7:\nx = 1"
    assert expected.parse_expected(answer, [ONE, TWO]) == {
        ONE.case: [("total", "1"), ("total", "3")],
        TWO.case: [("total", "0"), ("return", "0"), ("x", "1")],
    }


def test_a_single_test_needs_no_head_and_prose_gives_nothing():
    assert expected.parse_expected("total = 3", [ONE]) == {ONE.case: [("total", "3")]}
    assert expected.parse_expected("I would sum them up.", [ONE]) == {}
    assert len(expected.parse_expected("total = 3\n" * 10_000, [ONE])[ONE.case]) == expected.MOST


@pytest.mark.parametrize(
    ("wanted", "observed", "same"),
    [
        ("1", "1", True),
        ("0.3", "0.30000000000000004", True),
        ("[1, 2]", "(1, 2)", True),
        ("[1, 2]", "[1, 3]", False),
        ("'a'", '"a"', True),
        ("None", "None", True),
        ("None", "0", False),
        ("[1, 2]", "[1, 2, 3, ...", None),
        ("1", "<object>", None),
    ],
)
def test_same_value(wanted, observed, same):
    assert expected.same_value(wanted, observed) is same


@pytest.mark.parametrize(
    ("statement", "value"),
    [
        ("assert f(1) == 2", "2"),
        ("test_f[1-2]: assert f(1) == [2]", "[2]"),
        ("f(1) gives 2", "2"),
        ("assert f(1) == x", ""),
        ("assert x == 2", ""),
        ("assert f(1) != 2", ""),
        ("test_f\n    assert f(1) == 2", ""),
        ("test_f", ""),
    ],
)
def test_wanted_value(statement, value):
    assert expected.wanted_value(statement) == value


def test_a_verification_that_contradicts_its_test_is_seen():
    values = {ONE.case: [("total", "4"), ("return", "4")], TWO.case: [("return", "0")]}
    assert expected.contradictions(values, [ONE, TWO]) == [(ONE, "4", "3")]
    assert expected.contradictions({TWO.case: [("total", "0")]}, [ONE, TWO]) == [(TWO, "", "0")]
