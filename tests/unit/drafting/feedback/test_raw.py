"""The runner's own words."""

from __future__ import annotations

from pathlib import Path

from greenloop.core.records.attempt import Attempt
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Spec
from greenloop.core.records.verdict import CaseResult, Failure, Frame, Status, Verdict
from greenloop.drafting.feedback import raw

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
