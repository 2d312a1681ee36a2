"""What a prompt shows of attempts."""

from __future__ import annotations

from double_problem import PROBLEM
from greenloop.core.records.attempt import Attempt, Candidate
from greenloop.core.records.verdict import Status, Verdict
from greenloop.drafting.prompt import render_attempts
from greenloop_sandbox import CaseResult

(REGION,) = PROBLEM.regions


def attempt(number: int, body: str, *passed: str, **more) -> Attempt:
    cases = tuple(CaseResult(id=f"test_m.py::{name}", outcome="passed") for name in passed)
    return Attempt(
        number=number,
        verdict=Verdict(status=Status.FAILED, cases=(*cases, CaseResult(id="test_m.py::test_x", outcome="failed"))),
        candidate=Candidate(texts={REGION: f"def double(x):\n{body}"}, **more),
    )


def test_what_is_to_be_written_anew_is_not_shown():
    shown = render_attempts(PROBLEM, [attempt(1, "    return x\n", imports=("import os",))], without=(REGION,))
    assert shown == "0 of 1 tests passed:\n```python\nimport os\n```"
