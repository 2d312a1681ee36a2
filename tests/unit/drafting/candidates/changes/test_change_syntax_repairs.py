"""Code that cannot be parsed: which changes of one character let it be parsed."""

from __future__ import annotations

import ast
import textwrap

import pytest

from greenloop.core.python.ast_source import parse_fragment
from greenloop.drafting.candidates.changes.change import syntax_repairs


def repairs(text):
    error = parse_fragment(text)
    assert isinstance(error, SyntaxError)
    return list(syntax_repairs(text, error))


@pytest.mark.parametrize(
    ("broken", "wanted"),
    [
        ("return g(a", "return g(a)"),
        ("return g[a", "return g[a]"),
        ("return {a: [b}", "return {a: [b]}"),
        ("return g(a))", "return g(a)"),
        ("for x in range(len(a):\n    b()", "for x in range(len(a)):\n    b()"),
        ("while a\n    b()", "while a:\n    b()"),
        ("if a = b:\n    c()", "if a == b:\n    c()"),
        ("return 'a", "return 'a'"),
        ("return [a b]", "return [a, b]"),
        ("a = 1\n  return a", "a = 1\nreturn a"),
        ("if a:\nreturn b", "if a:\n    return b"),
        ("a = g(b\nreturn a", "a = g(b)\nreturn a"),
    ],
)
@pytest.mark.parametrize("margin", ["", "    "], ids=["function", "method"])
def test_what_was_meant_is_among_the_repairs(broken, wanted, margin):
    def function(body):
        return textwrap.indent(f"def f(self):\n{textwrap.indent(body, '    ')}\n", margin)

    texts = [text for _line, text in repairs(function(broken))]
    assert function(wanted) in texts


def test_each_repair_parses_is_one_line_and_means_something_else():
    broken = "def f(a, b):\n    x = g(a, b\n    return x\n"
    found = repairs(broken)
    assert len({ast.dump(ast.parse(text)) for _line, text in found}) == len(found) > 1
    for line, text in found:
        rows, changed = broken.split("\n"), text.split("\n")
        assert [number for number, pair in enumerate(zip(rows, changed, strict=True), 1) if len({*pair}) > 1] == [line]


@pytest.mark.parametrize("text", ["def f(:\n", "\x00", "def f():\n    return (((\n", ""])
def test_what_no_single_change_repairs_has_none(text):
    assert list(syntax_repairs(text, SyntaxError("invalid syntax"))) == []
