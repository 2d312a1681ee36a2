"""What requirements say of a candidate becomes a part of its verdict."""

from __future__ import annotations

import pytest

from double_problem import PROBLEM
from greenloop.core.feature_data import show
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.requirements import Requirement, Ruling, judge
from greenloop_sandbox import CaseResult
from spec_problem import FAILED, PASSED, make_trial

(CASE, *_more) = PROBLEM.spec.cases


def requirement(name, *results, asks_user=False, **ruling):
    async def rule(_trial, verdict):
        seen.append((name, verdict.status))
        return Ruling(results=results, **ruling)

    seen = []
    return Requirement(name=name, judge=rule, asks_user=asks_user), seen


@pytest.mark.parametrize(
    ("tests", "outcome", "status"),
    [
        (PASSED, "passed", Status.PASSED),
        (PASSED, "skipped", Status.PASSED),
        (PASSED, "failed", Status.FAILED),
        (PASSED, "missing", Status.FAILED),
        (FAILED, "passed", Status.FAILED),
        (Verdict(status=Status.TIMEOUT), "failed", Status.TIMEOUT),
    ],
)
async def test_a_requirement_never_makes_a_pass(tests, outcome, status):
    each, _seen = requirement("x", CaseResult(id=CASE.id, outcome=outcome))
    verdict = await judge([each], make_trial(PROBLEM), tests)
    assert (verdict.status, verdict.cases[-1].outcome) == (status, outcome)


async def test_a_case_that_no_longer_counts_is_left_out():
    each, _seen = requirement("x", CaseResult(id="outvoted", outcome="failed"), data={"n": 1})
    assert await judge([each], make_trial(PROBLEM), PASSED) == Verdict(
        status=Status.PASSED, cases=PASSED.cases, data={"x": {"n": 1}}
    )


async def test_all_judge_the_tests_and_the_user_is_asked_about_what_passes_everything():
    failed = CaseResult(id=CASE.id, outcome="failed")
    (first, seen_first), (second, seen_second) = requirement("a", failed), requirement("b")
    user, asked = requirement("u", asks_user=True)
    await judge([user, first, second], make_trial(PROBLEM, is_final=True), PASSED)
    assert (seen_first, seen_second, asked) == ([("a", Status.PASSED)], [("b", Status.PASSED)], [])
    await judge([user, second], make_trial(PROBLEM), PASSED)
    assert asked == []
    await judge([user, second], make_trial(PROBLEM, is_final=True), PASSED)
    assert asked == [("u", Status.PASSED)]


def test_data_of_a_requirement_that_is_not_installed_is_not_shown():
    assert show({"of_another_package": {"ratio": 0.5}}) == []
