"""Feedback: what the model is told of a failure."""

from __future__ import annotations

from pathlib import Path

import pytest

from greenloop.core.records.attempt import Attempt, Finding
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Spec
from greenloop.core.records.verdict import CaseResult, Failure, Frame, Status, Verdict
from greenloop.drafting.feedback import diff, raw

PROBLEM = Problem(root=Path("/w"), spec=Spec(cases=(), selectors=()), regions=(), originals={}, files={})
FAILURE = Failure(
    type="AssertionError",
    message="assert [0, 1] == [0]",
    frames=(Frame(path="test_m.py", line=4, function="test_one"),),
    text="    def test_one():\n>       assert fibonacci(1) == [0]\nE       assert [0, 1] == [0]",
    expected="[0]",
    observed="[0, 1]",
)


def failed(*failures: Failure) -> Attempt:
    cases = tuple(CaseResult(id=f"test_m.py::t{n}", outcome="failed", failure=f) for n, f in enumerate(failures))
    return Attempt(number=1, verdict=Verdict(status=Status.FAILED, cases=cases), error_class="AssertionError")


async def test_diff_names_the_element_that_is_too_many():
    note = await diff.describe(PROBLEM, [failed(FAILURE)], None)
    assert "expected: [0]" in note.text
    assert "observed: [0, 1]" in note.text
    assert "index 1: observed has 1 too many" in note.text
    assert "in: assert fibonacci(1) == [0]" in note.text


async def test_diff_of_an_exception_says_where():
    failure = Failure(type="KeyError", message="'a'", frames=(Frame(path="m.py", line=7, function="f"),))
    note = await diff.describe(PROBLEM, [failed(failure)], None)
    assert "KeyError: 'a'" in note.text
    assert "m.py:7 in f" in note.text


@pytest.mark.parametrize("part", [raw, diff])
async def test_a_refused_answer_is_told_why(part):
    attempt = Attempt(
        number=1,
        verdict=Verdict(status=Status.REFUSED),
        finding=Finding(error_class="SyntaxError", message="invalid syntax", line=3),
    )
    note = await part.describe(PROBLEM, [attempt], None)
    assert "SyntaxError" in note.text
    assert "line 3" in note.text


async def test_many_failures_are_counted_not_listed():
    note = await diff.describe(PROBLEM, [failed(*[FAILURE] * 9)], None)
    assert "and 5 more failing tests" in note.text
