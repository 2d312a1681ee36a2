"""How correct code is broken."""

from __future__ import annotations

import pytest

from greenloop_lab.bench.mutation.ast_edits import Source, apply_edits
from greenloop_lab.bench.mutation.operators import OPERATORS, all_edits
from mutable_function import find_function, make_module

CASES = [
    ("comparison", "if a < b:\n    return a", "if a <= b:\n    return a"),
    ("comparison", "return a not  in b", "return a in b"),
    ("arithmetic", "return a + 2 * b", "return a + 2 + b"),
    ("augmented assignment", "a += b\nreturn a", "a -= b\nreturn a"),
    ("and/or", "return a and b", "return a or b"),
    ("negated condition", "if a:\n    return b", "if not a:\n    return b"),
    ("negated condition", "return [x for x in a if x and b]", "return [x for x in a if not (x and b)]"),
    ("dropped not", "b = not a\nreturn b", "b = a\nreturn b"),
    ("constant", "return a[0]", "return a[1]"),
    ("constant", "return 5", "return 4"),
    ("constant", "return True", "return False"),
    ("slice bound", "return a[1:b]", "return a[:b]"),
    ("slice bound", "return a[1:b]", "return a[1:b + 1]"),
    ("off by one", "return range(a)", "return range(a - 1)"),
    ("argument order", "return pow(a,  b)", "return pow(b,  a)"),
    ("wrong function", "return max(a, b)", "return min(a, b)"),
    ("wrong method", "return a.lower()", "return a.upper()"),
    ("wrong name", "return a", "return b"),
    ("dropped statement", "a.pop()\nreturn a", "return a"),
    ("dropped statement", "if a:\n    b = 1\nreturn b", "if a:\n    pass\nreturn b"),
    ("wrong return", "return [a, b]", "return a"),
    ("early return", "for x in a:\n    b += x\nreturn b", "for x in a:\n    b += x\n    return b"),
]


@pytest.mark.parametrize(("operator", "before", "after"), CASES)
def test_operator(operator, before, after):
    source = Source(make_module(before))
    made = {apply_edits(source.text, edit): edit for edit in all_edits(source, find_function(source))}
    assert make_module(after) in made
    assert operator in {edit.operator for text, edit in made.items() if text == make_module(after)}


def test_every_operator_has_its_case():
    assert {name for name, _before, _after in CASES} == set(OPERATORS)


def test_the_docstring_and_the_rest_of_the_module_stay():
    source = Source(make_module("if a < b:\n    return max(a, 3)\nreturn b[1:]"))
    for edit in all_edits(source, find_function(source)):
        after = apply_edits(source.text, edit)
        assert after.startswith(make_module("")[:-5])
