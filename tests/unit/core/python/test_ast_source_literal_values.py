"""Values of literals."""

from __future__ import annotations

import ast

import pytest

from greenloop.core.python.ast_source import read_literal


@pytest.mark.parametrize("value", [None, 1, -2.5, "a\nb", [1, ("x", None)], {"a": {1, 2}}, b"x", True])
def test_what_is_shown_is_read(value):
    assert read_literal(repr(value)) == (value,)


@pytest.mark.parametrize("text", ["", "x", "f(1)", "[1", "1 +", "<m.C object at 0x7>", "(" * 1000, "{[]: 1}", "\0"])
def test_what_is_no_literal(text):
    assert read_literal(text) is None


def test_a_node():
    assert read_literal(ast.parse("(1, 'a')", mode="eval").body) == ((1, "a"),)
