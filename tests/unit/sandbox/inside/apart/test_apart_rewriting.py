"""What assertions compare is noted, and a false one does not end the test."""

from __future__ import annotations

import ast
import builtins
import textwrap
from unittest import mock

import pytest

from two_sides import apart

assertions, rewriting = apart["apart_assertions"], apart["apart_rewriting"]


def run(text: str, monkeypatch: pytest.MonkeyPatch, *, goes_on: bool = True, **names: object):
    """Runs a function with these assertions, and returns what was noted."""
    tree = ast.parse("def test():\n" + textwrap.indent(text, "    ") + "\ntest()")
    rewriting.rewrite(tree)
    noted = assertions.Operands("all" * goes_on)
    monkeypatch.setattr(builtins, rewriting.NOTE, noted, raising=False)
    exec(compile(tree, "test", "exec"), dict(names))
    return noted


@pytest.mark.parametrize(
    ("text", "left", "right"),
    [
        ("assert a == b", 1, 2),
        ("assert a in [b]", 1, [2]),
        ("assert abs(a - b) < 0.5", 1, 2),
        ("assert close(a, b)", 1, 2),
        ("case.assertEqual(a, b, 'words')", 1, 2),
        ("assert not a != b", 1, 2),
        ("assert (a == b) is True", 1, 2),
        ("assert a == b and a", 1, 2),
        ("assert all(a == each for each in [b])", 1, 2),
        ("if a != b:\n    assert 0", 1, 2),
    ],
)
def test_both_sides_of_an_assertion_are_noted(text, left, right, monkeypatch):
    class Case:
        def assertEqual(self, one, other, _words):  # noqa: N802
            assert one == other

    noted = run(text, monkeypatch, a=1, b=2, close=lambda one, other: one == other, case=Case())
    assert noted.sides == [[2, 0, assertions.digest(left), assertions.digest(right), [], False]]
    assert noted.false == 1


@pytest.mark.parametrize(
    ("text", "are_fixed"),
    [
        ("assert a == 2", True),
        ("assert [-1, {'b': (2,)}] != a", True),
        ("assert a", True),
        ("assert a == b", False),
        ("assert a == abs(-2)", False),
    ],
)
def test_it_is_noted_whether_a_side_is_written_in_the_test(text, are_fixed, monkeypatch):
    assert run(text, monkeypatch, a=1, b=2).are_fixed is are_fixed


def test_the_test_goes_on_after_a_false_assertion_and_one_that_raises(monkeypatch):
    text = "assert a == 2\nassert not a\nassert [][a] == 1\nassert a == 1\nassert a is None or True\nassert a"
    noted = run(text, monkeypatch, a=1)
    assert noted.false == 3
    assert [line for line, *_ in noted.sides] == [2, 4, 5]
    assert noted.sides[1][2] == "IndexError"


def test_a_call_that_returns_nothing_has_held(monkeypatch):
    assert run("note.assert_called_once()", monkeypatch, note=mock.Mock(assert_called_once=lambda: None)).false == 0


@pytest.mark.parametrize("text", ["assert a == 2", "assert not a", "assert [][a] == 1"])
def test_where_right_values_are_given_a_false_assertion_ends_the_test(text, monkeypatch):
    with pytest.raises((AssertionError, IndexError)):
        run(text, monkeypatch, goes_on=False, a=1)


def test_what_cannot_be_put_off_stays_as_it_is(monkeypatch):
    with pytest.raises(AssertionError):
        run("assert (b := a) == 2", monkeypatch, a=1)
