"""Floats that are compared for equality."""

from __future__ import annotations

import pytest

from greenloop.drafting.candidates.changes.slips.float_equality import float_equality

SHOWN = ("assert False\n +  where False = f((0.1 + 0.2), 0.3)", None, None)


@pytest.mark.parametrize(
    ("condition", "failure", "wanted"),
    [
        ("x == y", SHOWN, "math.isclose(x, y)"),
        ("x + y != 0.3", SHOWN, "not math.isclose(x + y, 0.3)"),
        ("x == 'é'", SHOWN, None),
        ("x == 1", SHOWN, None),
        ("x < y", SHOWN, None),
        ("x == y == 0.5", SHOWN, None),
        ("x == y", ("assert False\n +  where False = f(1, 2)", None, None), None),
    ],
)
def test_a_small_difference_counts_as_equal(failing, condition, failure, wanted):
    text = "def f(x, y):\n    return {}\n"
    found = [(change.text, change.imports) for change in float_equality(text.format(condition), failing(failure))]
    assert found == ([(text.format(wanted), ("import math",))] if wanted else [])


@pytest.mark.parametrize("text", ["x = y == z\n", "def f(:\n"])
def test_other_code_stays(failing, text):
    assert not list(float_equality(text, failing(SHOWN)))
