"""Which assertions have to run when their test passes."""

from __future__ import annotations

import textwrap

import pytest

from greenloop.verdict.assertion_lines import assertion_lines, helper_lines, strict_lines


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("assert f()\nassert (\n    g()\n)", [(2, 2), (3, 5)]),
        ("for x in f():\n    assert x", [(3, 3)]),
        ("with f() as x:\n    self.assertEqual(x, 1)", [(3, 3)]),
        ("try:\n    assert f()\nfinally:\n    close()", [(3, 3)]),
        ("if windows:\n    assert f()", []),
        ("with pytest.raises(AssertionError):\n    assert f()", []),
        ("try:\n    assert f()\nexcept AssertionError:\n    pass", []),
        ("if windows:\n    return\nassert f()", []),
        ("def helper():\n    assert f()\nhelper()", []),
        ("check(f())", []),
    ],
)
def test_those_that_a_pass_needs(body, lines):
    text = "def test_a(self):\n" + textwrap.indent(body, "    ") + "\n"
    assert assertion_lines(text) == {"test_a": lines}


def test_methods_have_their_class_in_front():
    assert assertion_lines("class TestA:\n    def test_b(self):\n        assert f()\n") == {"TestA::test_b": [(3, 3)]}


def test_a_broken_text_has_none():
    assert assertion_lines("def test_a(:\n") == {}


HELPERS = """\
def check(value):
    "Says what."
    value = str(value)
    assert value


def show(value):
    print(value)


def test_a():
    assert f()
"""


def test_helpers_that_assert():
    assert helper_lines(HELPERS) == [((3, 3), [(4, 4)])]
    assert helper_lines("def check(:\n") == ()


@pytest.mark.parametrize(
    ("text", "lenient"),
    [
        ("check(f())\nassert g()", []),
        ("with f() as x:\n    check(x)", []),
        ("with pytest.raises(ValueError):\n    check(f())", [1, 2]),
        ("with expected_failure():\n    check(f())", [1, 2]),
        ("self.assertRaises(AssertionError, f)", [1]),
        ("try:\n    check(f())\nexcept AssertionError:\n    pass", [1, 2, 3, 4]),
        ("try:\n    check(f())\nfinally: pass", []),
        ("@retry\ndef f():\n    assert g()", [2, 3]),
    ],
)
def test_lines_where_no_failure_may_be_lost(text, lenient):
    lines = {number for number, line in enumerate(text.split("\n"), 1) if line != "@retry"}
    assert strict_lines(text) - {1} - set(lenient) == lines - {1} - set(lenient)
    assert not strict_lines(text) & set(lenient)


def test_a_broken_text_has_no_such_lines():
    assert strict_lines("def test_a(:\n") == set()
