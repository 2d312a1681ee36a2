"""Which related tests count against a candidate, and which there was only no time for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from greenloop.core.records.spec import Case, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.verdict.related_tests.related import NEAREST, REPEATED, newly_failing, postpone, run_related
from greenloop_sandbox import Execution, TestRun
from related_runs import CASES, ended, inputs

PASSED = ("t.py::a", "passed")


@pytest.mark.parametrize(
    ("execution", "failing", "left_out"),
    [
        (ended(PASSED, ("t.py::b", "failed"), ("t.py::c", "passed"), ("t.py::old", "failed")), ["t.py::b"], 0),
        (ended(PASSED, cut="t.py::b", killed="timeout", silent=1.0), [], 2),
        (ended(PASSED, cut="t.py::b", killed="timeout", silent=9.0), ["t.py::b"], 1),
        (ended(PASSED, cut="t.py::b", killed="memory"), ["t.py::b"], 1),
        (ended(PASSED, cut="t.py::b", status=-11), ["t.py::b"], 1),
        (Execution(status=4), ["t.py::a", "t.py::b", "t.py::c"], 0),
    ],
    ids=["fails", "no time for all", "takes its whole limit", "memory", "crash", "cannot be collected"],
)
def test_what_counts_against_a_candidate(execution, failing, left_out):
    found, count = newly_failing(inputs(), execution, CASES, case_seconds=9.0)
    assert [result.id for result in found] == failing
    assert count == left_out


MANY = tuple(f"t.py::test_{number:03}" for number in range(5 * NEAREST))


class Session:
    """Runs the selected cases of `MANY`; each of `failing` fails so many times. `asked`: how many each run had.

    A case of `needs` passes only after another one, whatever the code.
    """

    name = "here"

    def __init__(self, failing: dict[str, int], needs: dict[str, str] | None = None) -> None:
        self.failing, self.needs = failing, needs or {}
        self.asked: list[int] = []

    async def run(self, run: TestRun) -> Execution:
        cases = run.only or run.selectors
        self.asked.append(len(cases))
        cases = MANY if cases == ("t.py",) else cases
        fails = [
            self.failing.get(case, 0) > 0 or self.needs.get(case, case) not in cases[: index + 1]
            for index, case in enumerate(cases)
        ]
        outcomes = [(case, "failed" if is_failed else "passed") for case, is_failed in zip(cases, fails, strict=True)]
        self.failing = {case: left - (case in cases) for case, left in self.failing.items()}
        return ended(*outcomes, seconds=1.0)


async def judge(failing: dict[str, int]) -> tuple[Verdict, list[int]]:
    session = Session(failing)
    passed = Verdict(status=Status.PASSED)
    return await run_related(inputs(MANY), session, passed, TestRun(selectors=()), {}), session.asked  # type: ignore[arg-type]


async def test_where_all_pass_the_nearest_run_first_and_each_once():
    verdict, asked = await judge({})
    assert verdict.status is Status.PASSED
    assert asked == [NEAREST, len(MANY) - NEAREST]


async def test_a_candidate_that_breaks_everything_is_refused_by_the_nearest():
    verdict, asked = await judge(dict.fromkeys(MANY, 9))
    assert verdict.status is Status.FAILED
    assert [result.id for result in verdict.collateral] == list(MANY[:NEAREST])
    assert asked == [NEAREST, REPEATED]


async def test_flaky_ones_do_not_hide_one_that_is_broken():
    flaky, broken = MANY[:REPEATED], MANY[REPEATED]
    verdict, asked = await judge({**dict.fromkeys(flaky, 1), broken: 9})
    assert verdict.status is Status.FAILED
    assert [result.id for result in verdict.collateral] == [broken]
    assert asked == [NEAREST, REPEATED, NEAREST, 1]


async def test_flaky_ones_are_named():
    flaky = (*MANY[: REPEATED + 1], MANY[-1])
    verdict, _asked = await judge(dict.fromkeys(flaky, 1))
    assert verdict.status is Status.PASSED
    assert verdict.flaky == flaky


async def test_those_that_no_time_is_left_for_are_counted():
    session = Session({})
    short = replace(inputs(MANY), suite_seconds=1.0)
    passed = Verdict(status=Status.PASSED)
    verdict = await run_related(short, session, passed, TestRun(selectors=()), {})  # type: ignore[arg-type]
    assert (session.asked, verdict.related.left_out) == ([NEAREST], len(MANY) - NEAREST)


async def test_what_failed_before_turns_green_or_stays_red():
    old, other, far = "t.py::old", "t.py::other", "u.py::far"
    cases = (*CASES, other, far)
    problem = replace(inputs(cases).problem, spec=Spec(cases=(Case(id="t.py::target", path="t.py", line=1),)))
    known = replace(inputs(cases), problem=problem, outcomes={**inputs(cases).outcomes, other: "error", far: "failed"})
    session = Session({old: 9, far: 9})
    verdict = await run_related(known, session, Verdict(status=Status.PASSED), TestRun(selectors=()), {})  # type: ignore[arg-type]
    assert verdict.status is Status.PASSED
    assert verdict.turned_green == (other,)
    assert verdict.still_red == (old,)  # the other one is not in the target's file


async def test_one_that_needs_others_before_it_is_not_broken():
    session = Session({}, needs={MANY[-1]: MANY[0], MANY[3]: MANY[1]})
    known = replace(inputs(MANY), own={})
    passed = Verdict(status=Status.PASSED)
    verdict = await run_related(known, session, passed, TestRun(selectors=()), {})  # type: ignore[arg-type]
    assert verdict.status is Status.PASSED
    assert len(MANY) in session.asked


async def test_one_that_is_broken_though_it_needs_others_is():
    session = Session({MANY[-1]: 9}, needs={MANY[-1]: MANY[0]})
    known = replace(inputs(MANY), own={})
    passed = Verdict(status=Status.PASSED)
    verdict = await run_related(known, session, passed, TestRun(selectors=()), {})  # type: ignore[arg-type]
    assert [result.id for result in verdict.collateral] == [MANY[-1]]


class TwoSides(Session):
    """One related test: what it does with the candidate, and run after run with the user's own code."""

    def __init__(self, own: list[str]) -> None:
        super().__init__({})
        self.own = own

    async def run(self, run: TestRun) -> Execution:
        cases = run.only or run.selectors
        outcome = self.own.pop(0) if run.files == {"m.py": "own"} else "failed"
        return ended(*((case, outcome) for case in cases), seconds=1.0)


@pytest.mark.parametrize(
    ("own", "status"),
    [
        (["passed", "passed", "passed"], Status.FAILED),
        (["passed", "missing", "missing"], Status.FAILED),
        (["passed", "failed", "failed"], Status.PASSED),
        (["passed", "passed", "failed"], Status.PASSED),
    ],
)
async def test_one_that_fails_by_chance_with_the_users_own_code_is_not_broken(own, status):
    session, case = TwoSides(own), MANY[0]
    known = replace(inputs((case,)), own={"m.py": "own"})
    passed = Verdict(status=Status.PASSED)
    verdict = await run_related(known, session, passed, TestRun(selectors=()), {})  # type: ignore[arg-type]
    assert verdict.status is status
    assert verdict.flaky == ((case,) if status is Status.PASSED else ())


def test_slow_related_tests_run_after_the_result_is_offered_unless_they_were_red():
    known = inputs()
    durations = dict.fromkeys(CASES, 2.0)
    now = postpone(known, {}, durations)
    assert now.problem.neighbours == ("t.py::a", "t.py::old")
    assert now.unmeasured == ("t.py::b", "t.py::c")
    assert postpone(known, {}, {}) == known
