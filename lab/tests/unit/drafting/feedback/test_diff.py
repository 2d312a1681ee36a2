"""Feedback: what the model is told of a failure."""

from __future__ import annotations

import pytest

from failed_assertion import FAILURE, PROBLEM, failed_attempt
from greenloop.core.records.attempt import Attempt, Finding
from greenloop.core.records.verdict import Status, Verdict
from greenloop.drafting.feedback import raw
from greenloop_lab.drafting.feedback import diff
from greenloop_sandbox import Failure, Frame


async def test_diff_names_the_element_that_is_too_many():
    note = await diff.describe(PROBLEM, [failed_attempt(FAILURE)], None)
    assert "expected: [0]" in note.text
    assert "observed: [0, 1]" in note.text
    assert "index 1: observed has 1 too many" in note.text
    assert "in: assert fibonacci(1) == [0]" in note.text


async def test_diff_of_an_exception_says_where():
    failure = Failure(type="KeyError", message="'a'", frames=(Frame(path="m.py", line=7, function="f"),))
    note = await diff.describe(PROBLEM, [failed_attempt(failure)], None)
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
    note = await diff.describe(PROBLEM, [failed_attempt(*[FAILURE] * 9)], None)
    assert "and 5 more failing tests" in note.text
