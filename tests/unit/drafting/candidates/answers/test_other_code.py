"""What counts of an answer beyond the functions that it was asked for: the unwritten ones that its code calls."""

from __future__ import annotations

from pathlib import Path

import pytest

from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Region, Spec
from greenloop.drafting.candidates.answers import parse_answer

CODE = """class A:
    def to_b(self):
        raise NotImplementedError


class B:
    def __init__(self, n):
        raise NotImplementedError

    def to_a(self):
        raise NotImplementedError

    def unused(self):
        raise NotImplementedError


def double(n):
    raise NotImplementedError
"""
NAMES = {"A.to_b": 2, "B.__init__": 7, "B.to_a": 10, "B.unused": 13, "double": 17}
REGIONS = [Region(path="m.py", qualname=name, start=start, end=start + 1) for name, start in NAMES.items()]
PROBLEM = Problem(
    root=Path("/w"),
    spec=Spec(cases=(Case(id="t.py::test_a", path="t.py", line=1),), selectors=("t.py",)),
    regions=tuple(REGIONS[:1]),
    suspects=tuple(REGIONS[1:]),
    originals={},
    files={"m.py": CODE, "t.py": "def test_a():\n    assert A().to_b().to_a()\n"},
)
REST = """

class B:
    def __init__(self, n):
        self.n = double(n)

    def to_a(self):
        return A()

    def unused(self):
        return 1


def double(n):
    return 2 * n
"""


@pytest.mark.parametrize(
    ("first", "whole", "names"),
    [
        ("class A:\n    def to_b(self):\n        return B(1)\n", True, ["A.to_b", "B.__init__", "B.to_a", "double"]),
        ("class A:\n    def to_b(self):\n        return 1\n", True, ["A.to_b"]),
        ("class A:\n    def to_b(self):\n        return B(1)\n", False, ["A.to_b"]),
    ],
)
def test_what_the_new_code_calls_counts_too(first, whole, names):
    candidate = parse_answer.read(f"```python\n{first}{REST}```", PROBLEM, whole=whole)
    assert sorted(region.qualname for region in candidate.texts) == names


def test_a_bare_method_is_not_that_of_another_class():
    answer = "```python\ndef to_b(self):\n    return B(1)\n\n\ndef to_a(self):\n    return 1\n```"
    candidate = parse_answer.read(answer, PROBLEM, whole=True)
    assert [region.qualname for region in candidate.texts] == ["A.to_b"]
