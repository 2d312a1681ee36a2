"""Code of a report: whole functions below the head of their class, imports, and outlines with the right lines."""

from __future__ import annotations

import argparse
import ast
import inspect
import textwrap

import pytest

from greenloop.core.records.spec import Region
from greenloop.plugins.conversations import tracebacks
from greenloop.plugins.conversations.shortening import LONGEST_FUNCTION
from greenloop.plugins.conversations.tracebacks import MOST_IMPORTS, functions, names_used, outline, whole_file
from greenloop.project.syntax import definitions

CODE = '''\
"""A shop."""

import json
from pathlib import (
    Path,
)


class Basket(Base, metaclass=Meta):
    """Holds items."""

    limit = 3
    table = {
        1: 2,
        3: 4,
        5: 6,
        7: 8,
    }

    def __init__(self, items):
        self.items = items

    @property
    def total(self):
        return sum(self.items)

    def add(self, item, *, count=1):
        self.items.append(item)


def tax(kind):
    return kind
'''


def region(qualname, text=CODE):
    found = definitions.find_by_qualname(definitions.find_definitions(text, "m.py"), qualname)
    return Region(path="m.py", qualname=qualname, start=found.start, end=found.end)


def shown_of(text, *regions, lines=()):
    return functions(text, "m.py", dict.fromkeys(regions, LONGEST_FUNCTION), lines)


def test_a_method_is_below_its_class_with_short_fields_and_constructor():
    assert shown_of(CODE, region("Basket.total")) == textwrap.dedent("""\
        class Basket(Base, metaclass=Meta):
            limit = 3

            def __init__(self, items):
                self.items = items

            @property
            def total(self):
                return sum(self.items)""")


def test_several_functions_share_their_class_and_are_in_order():
    shown = shown_of(CODE, region("tax"), region("Basket.add"), region("Basket.__init__"))
    assert shown.count("class Basket") == 1
    assert shown.count("def __init__") == 1
    assert shown.index("def __init__") < shown.index("def add") < shown.index("def tax")
    ast.parse(shown)


def test_a_whole_class_and_an_assignment():
    assert shown_of(CODE, region("Basket")).startswith("class Basket")
    limit = Region(path="m.py", qualname="Basket.limit", start=12, end=12, assigns=True)
    assert shown_of(CODE, limit).count("    limit = 3") == 1


def test_all_imports_of_a_few_and_constants_that_are_used():
    code = CODE.replace("class Basket", "LIMIT = 3\nOTHER = 4\n\n\nclass Basket")
    assert names_used(code, "return LIMIT") == "import json\nfrom pathlib import (\n    Path,\n)\n\nLIMIT = 3"
    assert names_used(code, "LIMIT = 3") == names_used(code, "")
    assert names_used("def f(:\n", "f") == ""


def test_of_very_many_imports_those_that_are_used():
    text = "".join(f"import m{number}\n" for number in range(5 * MOST_IMPORTS))
    assert names_used(text, "return m7.f(m30)") == "import m7\nimport m30"


def test_an_outline_names_the_lines_on_which_things_are():
    rows = outline(CODE, "m.py", [region("tax")]).split("\n")
    assert rows[0] == f"`m.py`, {CODE.count(chr(10))} lines:"
    source = CODE.split("\n")
    for row in rows[1:]:
        number, _, rest = row.strip().partition(" ")
        assert rest.strip().removeprefix("class ").partition("(")[0] in source[int(number) - 1]
    assert rows[1].endswith("class Basket(Base, metaclass=Meta)")
    assert rows[4].endswith("  add(self, item, *, count=1)")


def test_of_many_definitions_those_nearest_are_named_with_their_classes():
    text = "".join(f"class C{number}:\n    def f{number}(self):\n        pass\n\n\n" for number in range(60))
    near = region("C30.f30", text)
    shown = outline(text, "m.py", [near])
    assert "f30(self)" in shown
    assert "f0(self)" not in shown
    named = [row.split()[-1] for row in shown.split("\n")[1:] if "more" not in row]
    assert len(named) <= tracebacks.LONGEST_OUTLINE + 20
    assert "       … " in shown


@pytest.mark.parametrize("module", [argparse, ast, inspect, textwrap, definitions, tracebacks])
def test_real_code_is_shown_as_it_is(module):
    text = inspect.getsource(module)
    items = [each for each in definitions.find_definitions(text, "m.py") if each.kind == "function"]
    rows = set(text.split("\n"))
    for item in items[:: max(1, len(items) // 15)]:
        own = Region(path="m.py", qualname=item.qualname, start=item.start, end=item.end)
        shown = shown_of(text, own, lines=[item.start + 5])
        for row in shown.split("\n"):
            assert row in rows or " … " in row or "more lines of docstring" in row
        if item.end - item.start < LONGEST_FUNCTION:
            ast.parse(textwrap.dedent(shown))


def test_other_line_ends_are_plain():
    code = CODE.replace("\n", "\r\n")
    assert shown_of(code, region("tax")) == "def tax(kind):\n    return kind"
    assert "\r" not in names_used(code, code) + whole_file(code)


def test_a_whole_file():
    assert whole_file(CODE) == CODE.rstrip()
