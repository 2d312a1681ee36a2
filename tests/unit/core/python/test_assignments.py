"""Which assignments of a module can be named, and replaced as whole lines."""

from __future__ import annotations

import pytest

from greenloop.core.python.assignments import field_rows, find_assignments
from greenloop.core.python.ast_source import Fragment, parse_fragment

SOURCE = """\
import re

TABLE = {
    "a": 1,
}  # rates
LIMIT: int = 3
first, second = 1, 2
ONE = TWO = 1
later: int
TWICE = 1
if LIMIT:
    TWICE = 2
    ONCE = 3


def local():
    inside = 1
    return inside


class Box:
    size = 3
    name = "a"; kind = "b"

    class Lid:
        colour = "red"

    def grow(self):
        self.size = 4
"""


def names(text: str) -> list[str]:
    source = parse_fragment(text)
    assert isinstance(source, Fragment)
    return list(find_assignments(source))


def test_assignments_of_modules_and_classes_by_name():
    assert names(SOURCE) == ["TABLE", "LIMIT", "ONE", "TWO", "ONCE", "Box.size", "Box.Lid.colour"]


@pytest.mark.parametrize(
    "text",
    [
        "a = 1\na += 1\n",
        "a = 1\ndef a(): pass\n",
        "try:\n    import a\nexcept ImportError:\n    a = None\n",
        "for a in b:\n    pass\na = 1\n",
        "a[0] = 1\n",
        "a.b = 1\n",
        "class C: a = 1\n",
    ],
)
def test_a_name_that_several_statements_bind_or_that_shares_its_line_is_left_out(text):
    assert names(text) == []


def test_an_indented_piece_has_names_too():
    assert names('    size = 3\n    kind = "é" # ö\n') == ["size", "kind"]


ORDER = '''\
class Order:
    """An order.

    Args:
        total: the sum
    """

    total: int = 0
    """The sum.

    Note: never negative.
    rate = 3
    """
    names = [
        "a",
    ]

    def add(self):
        self.total = 1

    limit = 2
'''


@pytest.mark.parametrize(
    ("text", "longest", "rows"),
    [
        (ORDER, 1, ["    total: int = 0", "    limit = 2"]),
        (ORDER, 3, ["    total: int = 0", "    names = [", '        "a",', "    ]", "    limit = 2"]),
        (ORDER.replace("class Order", "class Other"), 1, []),
        (f"{ORDER}\n\ndef broken(:\n", 1, ["    total: int = 0", "    limit = 2"]),
    ],
)
def test_the_fields_of_a_class_are_whole_statements_and_no_text(text, longest, rows):
    assert field_rows(text, "Order", longest=longest, most=9) == rows
