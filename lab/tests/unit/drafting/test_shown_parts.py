"""What a prompt shows of attempts: the tests that they pass, and what another one does not have."""

from __future__ import annotations

from dataclasses import replace

from double_problem import PROBLEM, failing_verdict
from greenloop.core.records.attempt import Attempt, Candidate
from greenloop.core.records.verdict import Status, Verdict
from greenloop_lab.drafting.shown_parts import name_passed, render_complements, render_ideas
from greenloop_sandbox import CaseResult

(REGION,) = PROBLEM.regions


def attempt(number: int, body: str, *passed: str, **more) -> Attempt:
    cases = tuple(CaseResult(id=f"test_m.py::{name}", outcome="passed") for name in passed)
    return Attempt(
        number=number,
        verdict=Verdict(status=Status.FAILED, cases=(*cases, CaseResult(id="test_m.py::test_x", outcome="failed"))),
        candidate=Candidate(texts={REGION: f"def double(x):\n{body}"}, **more),
    )


def test_passed_tests_are_named_and_many_are_counted():
    assert name_passed(attempt(1, "")) == "no test"
    assert name_passed(attempt(1, "", "test_a", "test_b[1]")) == "`test_a`, `test_b[1]`"
    assert name_passed(attempt(1, "", *(f"test_{n}" for n in range(15)))).endswith("`test_11` and 3 more")


def test_ideas_are_the_parts_that_the_anchor_does_not_have():
    anchor = attempt(1, "    y = x\n    return y\n", helpers=("A = 1",))
    other = attempt(
        2,
        "    if x is None:\n        return 0\n    y = x\n    z = 1\n    return y\n",
        "test_a",
        imports=("import os",),
        helpers=("A = 1", "B = 2"),
    )
    assert render_ideas(PROBLEM, anchor, [other, replace(anchor, number=3)]) == (
        "Another answer, which passes `test_a`, has:\n"
        "```python\nimport os\n...\nB = 2\n...\n    if x is None:\n        return 0\n...\n    z = 1\n```"
    )


def test_what_cannot_be_parsed_or_was_not_read_is_shown_whole_or_not_at_all():
    broken = attempt(2, "    return (\n")
    assert "    return (" in render_ideas(PROBLEM, attempt(1, "    return x\n"), [broken])
    unread = Attempt(number=3, verdict=failing_verdict())
    assert render_ideas(PROBLEM, attempt(1, "    return x\n"), [unread]) == ""


def test_complements_are_whole_answers_below_what_they_pass():
    shown = render_complements(PROBLEM, [attempt(1, "    return x\n", "test_a")])
    assert shown == "This passes `test_a`:\n```python\ndef double(x):\n    return x\n```"
