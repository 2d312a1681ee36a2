"""A problem and its failed attempts, which a critic reads."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from greenloop.core.records.attempt import Attempt, Candidate
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Region, Spec
from greenloop.core.records.verdict import ErrorGroup, Status, Verdict
from greenloop_sandbox import CaseResult, Failure, Frame

MODULE = "def f(n):\n    return n\n"

TESTS = "from m import f\n\n\ndef test_one():\n    assert f(1) == 2\n\n\ndef test_two():\n    assert f(2) == 2\n"

REGION = Region(path="m.py", qualname="f", start=1, end=2)

TEXTS = {"m.py": MODULE, "test_m.py": TESTS}

PROBLEM = Problem(
    root=Path("/w"),
    spec=Spec(
        cases=(
            Case(id="test_m.py::test_one", path="test_m.py", line=4),
            Case(id="test_m.py::test_two", path="test_m.py", line=8),
        ),
        selectors=("test_m.py",),
    ),
    regions=(REGION,),
    originals=TEXTS,
    files=TEXTS,
    instruction="Return twice the number.",
)

FAILURE = Failure(
    type="AssertionError",
    message="assert 1 == 2",
    frames=(Frame(path="test_m.py", line=5, function="test_one"),),
    text=">   assert f(1) == 2\nE   assert 1 == 2",
    expected="2",
    observed="1",
)

FAILING = "assert f(1) == 2  # output: 1"


def attempt(number: int = 1, *, code: str = "    return n + 0\n", score: float = 0.5, **more) -> Attempt:
    total = 10
    results = [CaseResult(id=f"test_m.py::p{n}", outcome="passed") for n in range(int(score * total))]
    results += [CaseResult(id="test_m.py::test_one", outcome="failed", failure=FAILURE)] * (total - len(results))
    made = Attempt(
        number=number,
        parent=0 if number else None,
        candidate=Candidate(texts={REGION: f"def f(n):\n{code}"}) if number else None,
        verdict=Verdict(status=Status.FAILED, cases=tuple(results)),
        error_class="AssertionError",
        group=ErrorGroup.LOGIC,
    )
    return replace(made, **more)


BASELINE = attempt(0)
