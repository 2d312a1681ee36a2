"""Code moves to another depth with its strings as they are."""

from __future__ import annotations

import pytest

from greenloop.core.python.ast_source import Fragment, parse_fragment
from greenloop.core.python.indentation import indentation_unit, reindent


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("def f():\n  return 1\n", "  "),
        ("class C:\n\tdef f(self):\n\t\treturn 1\n", "\t"),
        ("x = 1\n", "    "),
        ("if a:\n    b(c,\n      d)\n", "    "),
    ],
    ids=["two spaces", "tabs", "nothing is indented", "a line that goes on"],
)
def test_the_unit_is_the_step_after_a_colon(text, unit):
    assert indentation_unit(text) == unit


def test_a_function_moves_with_its_strings_as_they_are():
    source = parse_fragment('def f():\n  text = """\n one\n"""\n  return text\n')
    assert isinstance(source, Fragment)
    assert reindent(source, 1, 5, "    ", "    ") == [
        "    def f():",
        '        text = """',
        " one",
        '"""',
        "        return text",
    ]
