"""Returned values in the form that is expected."""

from __future__ import annotations

import pytest

from greenloop.drafting.candidates.changes.expected_returns import expected_returns


@pytest.mark.parametrize(
    ("returned", "expected", "observed", "wanted"),
    [
        ("a, b", "[1, 2]", "(1, 2)", ["list((a, b))", "sorted((a, b))"]),
        ("(a, b)", "[1, 2]", "(1, 2)", ["list((a, b))", "sorted((a, b))"]),
        ("(x for x in xs)", "[1]", "<generator object f at 0x7>", ["list((x for x in xs))", "sorted((x for x in xs))"]),
        ("n", "'1'", "1", ["str(n)"]),
        ("n / 2", "1", "1.5", ["int(n / 2)"]),
        ("n", "True", "1", ["bool(n)"]),
        ("xs", "[1, 2]", "[2, 1]", ["sorted(xs)", "xs[::-1]"]),
        ("xs + ys", "[1, 2, 3]", "[1, 2, 2, 3]", ["list(dict.fromkeys(xs + ys))"]),
        ("xs + ys", "[3, 2]", "[2, 3]", ["sorted(xs + ys, reverse=True)", "(xs + ys)[::-1]"]),
        ("s", "'a'", "' a '", ["s.strip()"]),
        ("s + t", "'A'", "'a'", ["(s + t).upper()", "(s + t).title()", "(s + t).capitalize()"]),
        ("x in xs", "True", "False", ["not (x in xs)"]),
        ("n", "3", "-3", ["abs(n)", "-n"]),
        ("x / y", "0.33", "0.3333333333333333", ["round(x / y, 2)"]),
        ("x", "None", "3", []),
        ("x", "3", "None", []),
        ("x", "<m.C object>", "3", []),
        ("x", "[1, 'a']", "['a', 1]", ["x[::-1]"]),
    ],
)
def test_what_stands_around_a_returned_value(failing, returned, expected, observed, wanted):
    text = f"    def f(self):\n        return {returned}\n"
    changes = list(expected_returns(text, failing(("", expected, observed))))
    assert [change.text.partition("return ")[2].rstrip("\n") for change in changes] == wanted
    assert {change.line for change in changes} <= {2}


def test_one_test_is_enough_for_another_type_alone(failing):
    text = "def f(x):\n    return x\n"
    for expected, observed, count in [("'1'", "1", 1), ("[1, 2]", "[2, 1]", 0)]:
        assert len(list(expected_returns(text, failing(("", expected, observed), others=False)))) == count


def test_each_return_alone_and_none_without_a_value(failing):
    text = "def f(x):\n    if x:\n        return x\n    if not x:\n        return\n    return 2\n"
    found = [change.text for change in expected_returns(text, failing(("", "'1'", "1")))]
    assert found == [text.replace("return x", "return str(x)"), text.replace("return 2", "return str(2)")]


def test_code_that_is_no_function(failing):
    for text in ("X = 1\n", "def f(:\n"):
        assert not list(expected_returns(text, failing(("", "'1'", "1"))))
