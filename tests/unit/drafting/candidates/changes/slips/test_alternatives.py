"""A comparison with one of several values, written as in speech."""

from __future__ import annotations

import pytest

from greenloop.drafting.candidates.changes.slips.alternatives import alternatives


@pytest.mark.parametrize(
    ("condition", "wanted"),
    [
        ("x == 'a' or 'é'", "x in ('a', 'é')"),
        ("x.y == 1 or 2 or 3", "x.y in (1, 2, 3)"),
        ("x != 1 and 2", "x not in (1, 2)"),
        ("x != 1 or 2", "x not in (1, 2)"),
        ("x == 1 or y", None),
        ("x == 1 or x == 2", None),
        ("x < 1 or 2", None),
        ("1 or x == 2", None),
    ],
)
def test_a_comparison_with_several_values(failing, condition, wanted):
    text = "def f(x, y):\n    if {}:\n        return 1\n"
    found = [change.text for change in alternatives(text.format(condition), failing())]
    assert found == ([text.format(wanted)] if wanted else [])


@pytest.mark.parametrize("text", ["x = y == 1 or 2\n", "def f(:\n"])
def test_other_code_stays(failing, text):
    assert not list(alternatives(text, failing()))
