"""How much failing cases speak against a line."""

from __future__ import annotations

from math import sqrt

import pytest

from greenloop.core.records.spec import Region
from greenloop.core.report import LineTrace, ReachedFunction
from greenloop.localize.spectrum import MOST_PASSING, nearest, ochiai

REGION = Region(path="m.py", qualname="f", start=10, end=20)


def ran(*lines: int) -> LineTrace:
    return LineTrace(lines={"m.py": dict.fromkeys(lines, 1)}, steps=())


def hit(depth: int, line: int = 10, path: str = "m.py") -> ReachedFunction:
    return ReachedFunction(path=path, firstlineno=line, name="f", depth=depth)


def test_lines_of_failing_cases_alone_are_most_suspicious():
    found = ochiai({"bad": ran(1, 2, 4), "good": ran(1, 3)}, ["bad"], ["good"])
    assert found == {"m.py": {1: pytest.approx(1 / sqrt(2)), 2: 1.0, 4: 1.0}}


def test_every_failing_case_counts():
    found = ochiai({"a": ran(1, 2), "b": ran(1)}, ["a", "b"], [])
    assert found == {"m.py": {1: 1.0, 2: pytest.approx(1 / sqrt(2))}}


def test_cases_that_told_nothing_do_not_count():
    assert ochiai({"a": ran(1)}, ["a", "gone"], ["late"]) == {"m.py": {1: 1.0}}
    assert ochiai({"good": ran(1)}, ["gone"], ["good"]) == {}


def test_the_nearest_passing_neighbours_that_reach_a_region():
    reach = {"far": [hit(5)], "near": [hit(1), hit(7)], "other": [hit(1, line=30)], "file": [hit(1, path="n.py")]}
    assert nearest(["far", "near", "other", "file", "unknown"], reach, [REGION]) == ["near", "far"]
    many = [f"t{n}" for n in range(100)]
    assert nearest(many, {case: [hit(1)] for case in many}, [REGION]) == many[:MOST_PASSING]
