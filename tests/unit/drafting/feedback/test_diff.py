"""Feedback: what the model is told of a failure."""

from __future__ import annotations

from pathlib import Path

import pytest

from greenloop.core.records.attempt import Attempt, Finding
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Spec
from greenloop.core.records.verdict import CaseResult, Failure, Frame, Status, Verdict
from greenloop.drafting.feedback import diff, raw
from greenloop.drafting.feedback._value_diff import first_difference

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


async def test_raw_has_the_runners_own_words():
    note = await raw.describe(PROBLEM, [failed(FAILURE)], None)
    assert FAILURE.text in note.text


async def test_raw_keeps_the_last_frames_with_exception_and_line():
    rows = [f"m.py:{n}: in f" for n in range(500)]
    text = "\n".join([*rows, ">       return table[key]", "E       KeyError: 'a'", "", "m.py:77: KeyError"])
    note = await raw.describe(PROBLEM, [failed(Failure(type="KeyError", message="'a'", text=text))], None)
    assert note.text.endswith("m.py:499: in f\n>       return table[key]\nE       KeyError: 'a'\n\nm.py:77: KeyError")
    assert "m.py:1: in f\n" not in note.text
    assert note.text.count("\n") == 40


async def test_many_raw_failures_are_bounded():
    note = await raw.describe(PROBLEM, [failed(*[Failure(type="E", message="", text="x" * 10_000)] * 500)], None)
    assert note.text.endswith("and 480 more failing tests.")
    assert len(note.text) < 130_000


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


@pytest.mark.parametrize(
    ("expected", "observed", "said"),
    [
        ("[1, 2]", "[1, 3]", "index 1: expected 2, observed 3"),
        ("[1, 2]", "[1]", "index 1: 2 is missing"),
        ("'abc'", "'abd'", "index 2: expected 'c', observed 'd'"),
        ("{'a': 1}", "{'a': 2}", "key 'a': expected 1, observed 2"),
        ("{'a': 1}", "{}", "key 'a' is missing"),
        ("{}", "{'b': 1}", "key 'b' is too many"),
        ("{1, 2}", "{1}", "missing {2}"),
        ("1", "'1'", "expected int, observed str"),
        ("{'a': 1, 'b': [3, 3]}", "{'a': 1, 'b': [3, 2]}", "key 'b': index 1: expected 3, observed 2"),
        ("[[1], (2, {3})]", "[[1], (2, {4})]", "index 1: index 1: missing {3}; too many {4}"),
        ("[(1,)]", "[[1]]", "index 0: expected (1,), observed [1]"),
        ("['abc']", "['abd']", "index 0: expected 'abc', observed 'abd'"),
        ("1", "2", ""),
        ("<object>", "1", ""),
    ],
)
def test_first_difference(expected, observed, said):
    assert first_difference(expected, observed) == said
