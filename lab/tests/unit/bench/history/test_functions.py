"""What a change concerns, by name."""

from __future__ import annotations

import pytest

from greenloop_lab.bench.history.functions import FunctionChanges, compare_functions, count_changed_lines, merge

OLD = '''
"""A module."""
import re

LIMIT = 3


def first(a):
    """Says something."""
    return a


class Box:
    side = 1

    def area(self):
        return self.side

    def grow(self):
        def step():
            return 1

        self.side += step()
'''


@pytest.mark.parametrize(
    ("old", "new", "changes", "kind"),
    [
        ("return a\n", "return a + 1\n", FunctionChanges(changed=("first",)), "one function"),
        ("return self.side", "return 0", FunctionChanges(changed=("Box.area",)), "one function"),
        ("return 1\n", "return 2\n", FunctionChanges(changed=("Box.grow.step",)), "one function"),
        ("LIMIT = 3", "LIMIT = 4", FunctionChanges(outside=True), "no function"),
        ("side = 1\n", "side = 2\n", FunctionChanges(outside=True), "no function"),
        ("class Box:", "class Box(dict):", FunctionChanges(outside=True), "no function"),
        ("def area(", "def size(", FunctionChanges(others=("Box.area", "Box.size")), "several functions"),
        ("import re", "import os", FunctionChanges(), ""),
        ("Says something.", "Says nothing.", FunctionChanges(), ""),
        ("    return a\n", "    # why\n    return (a)\n", FunctionChanges(), ""),
        ("def first(a)", "def first(a=1)", FunctionChanges(changed=("first",)), "one function"),
    ],
)
def test_a_change_has_the_names_of_its_functions(old, new, changes, kind):
    assert old in OLD
    compared = compare_functions(OLD, OLD.replace(old, new))
    assert (compared, compared.kind) == (changes, kind)


def test_functions_of_one_name_are_told_apart():
    old = "class A:\n    @property\n    def x(self):\n        return 1\n    @x.setter\n    def x(self, v):\n        pass\n"
    assert compare_functions(old, old.replace("pass", "self.v = v")) == FunctionChanges(changed=("A.x",))
    assert compare_functions(old, old).kind == ""


def test_a_text_that_cannot_be_parsed_is_an_error():
    with pytest.raises(ValueError, match="invalid syntax|expected"):
        compare_functions("a = 1\n", "def f(:\n")


def test_the_changes_of_several_files_have_their_paths():
    one = FunctionChanges(changed=("f",))
    both = merge([("a.py", one), ("b.py", FunctionChanges(changed=("f",), outside=True))])
    assert both == FunctionChanges(changed=("a.py::f", "b.py::f"), outside=True)
    assert both.kind == "several functions"


@pytest.mark.parametrize(
    ("old", "new", "lines"), [("a\nb\n", "a\nb\n", 0), ("a\nb\n", "a\nc\n", 2), ("a\n", "a\n-- b\n++ c\n", 2)]
)
def test_changed_lines_are_those_of_a_diff(old, new, lines):
    assert count_changed_lines(old, new) == lines
