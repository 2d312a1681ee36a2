"""A failed assertion about `fibonacci`, and attempts that fail with it."""

from __future__ import annotations

from pathlib import Path

from greenloop.core.records.attempt import Attempt
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop_sandbox import CaseResult, Failure, Frame

PROBLEM = Problem(root=Path("/w"), spec=Spec(cases=(), selectors=()), regions=(), originals={}, files={})
FAILURE = Failure(
    type="AssertionError",
    message="assert [0, 1] == [0]",
    frames=(Frame(path="test_m.py", line=4, function="test_one"),),
    text="    def test_one():\n>       assert fibonacci(1) == [0]\nE       assert [0, 1] == [0]",
    expected="[0]",
    observed="[0, 1]",
)


def failed_attempt(*failures: Failure) -> Attempt:
    cases = tuple(CaseResult(id=f"test_m.py::t{n}", outcome="failed", failure=f) for n, f in enumerate(failures))
    return Attempt(number=1, verdict=Verdict(status=Status.FAILED, cases=cases), error_class="AssertionError")
