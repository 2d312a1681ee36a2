"""Which related tests count against a candidate, and which there was only no time for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from greenloop.core.records.problem import Problem
from greenloop.core.records.sandbox import Execution, Limits, TestRun
from greenloop.core.records.spec import Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.verdict.inputs import VerificationInputs
from greenloop.verdict.related import NEAREST, REPEATED, newly_failing, run_related, run_unmeasured

CASES = ("t.py::a", "t.py::b", "t.py::c", "t.py::old")


def inputs(cases: tuple[str, ...] = CASES) -> VerificationInputs:
    problem = Problem(
        root=Path("/nowhere"), spec=Spec(cases=(), selectors=()), regions=(), originals={}, files={}, neighbours=cases
    )
    outcomes = {**dict.fromkeys(cases, "passed"), "t.py::old": "failed"}
    return VerificationInputs(
        problem=problem, outcomes=outcomes, limits=Limits(), suite_seconds=60, encode=lambda _files: {}
    )


def ended(*cases: tuple[str, str], cut: str = "", known: tuple[str, ...] = CASES, **about: object) -> Execution:
    """These cases ended so, and one was cut."""
    records: list[dict[str, object]] = [
        {"kind": "collected", "cases": [{"id": case, "path": "t.py", "line": 1} for case in (*known, *dict(cases))]}
    ]
    for case, outcome in cases:
        records.append({"kind": "begin", "id": case})
        for when in PHASES:
            is_failed = when == "call" and outcome == "failed"
            type_ = "AssertionError" if is_failed else None
            phase = {"kind": "phase", "id": case, "when": when, "type": type_}
            records.append({**phase, "outcome": "failed" if is_failed else "passed"})
    records += [{"kind": "begin", "id": cut}] if cut else [{"kind": "finished", "status": 0}]
    records = [{**record, "seq": number} for number, record in enumerate(records)]
    return Execution(records=tuple(records), **about)  # type: ignore[arg-type]


PHASES = ("setup", "call", "teardown")
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
    assert (session.asked, verdict.left_out) == ([NEAREST], len(MANY) - NEAREST)


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


class TwoCodes:
    """Runs files and cases that nothing was known of; `mine` and `theirs` fail with the user's and the new code.

    A name in them that is a file cannot be collected. A report holds `most` cases.
    """

    name = "here"

    def __init__(
        self, files: dict[str, tuple[str, ...]], mine: set[str], theirs: set[str], most: int = len(MANY)
    ) -> None:
        self.files, self.mine, self.theirs, self.most = files, mine, theirs, most

    async def run(self, run: TestRun) -> Execution:
        failing = self.mine if "own.py" in run.files else self.theirs
        selected = dict.fromkeys(run.only or run.selectors)
        cases = [case for file, inside in self.files.items() for case in inside if {file, case} & selected.keys()]
        outcomes = [
            (case, "failed" if case in failing else "passed")
            for case in cases
            if case.partition("::")[0] not in failing
        ]
        killed = "report" if len(outcomes) > self.most else ""
        execution = ended(*outcomes[: self.most], known=tuple(dict(outcomes)), killed=killed, seconds=1.0)
        broken = [{"kind": "collect_error", "id": file} for file in self.files if file in failing and file in selected]
        records = [*execution.records[:1], *broken, *execution.records[1:]]
        numbered = tuple({**record, "seq": number} for number, record in enumerate(records))
        return replace(execution, records=numbered)


async def judge_unmeasured(session: TwoCodes, *unmeasured: str) -> Verdict:
    known = replace(inputs(()), own={"own.py": b""}, unmeasured=unmeasured)
    passed = Verdict(status=Status.PASSED)
    return await run_unmeasured(known, session, passed, {}, 0.0)  # type: ignore[arg-type]


async def test_however_many_fail_as_before_none_is_said_not_to_have_run():
    failing = {*MANY[:40]}
    verdict = await judge_unmeasured(TwoCodes({"t.py": MANY}, failing, failing), *MANY)
    assert (verdict.status, verdict.first_failures, verdict.left_out) == (Status.PASSED, 40, 0)
    assert verdict.first_passes == len(MANY) - 40


async def test_one_that_fails_only_now_among_many_that_failed_before_is_found():
    failing = {*MANY[:40]}
    verdict = await judge_unmeasured(TwoCodes({"t.py": MANY}, failing, {*failing, MANY[50]}), *MANY)
    assert [result.id for result in verdict.collateral] == [MANY[50]]


async def test_behind_a_full_report_it_goes_on():
    session = TwoCodes({"t.py": MANY}, {MANY[-1]}, {MANY[-1], MANY[-2]}, most=30)
    verdict = await judge_unmeasured(session, "t.py")
    assert [result.id for result in verdict.collateral] == [MANY[-2]]
    verdict = await judge_unmeasured(TwoCodes({"t.py": MANY}, set(), set(), most=30), "t.py")
    assert (verdict.first_passes, verdict.left_out) == (len(MANY), 0)


async def test_a_file_without_tests_is_not_said_not_to_have_run():
    verdict = await judge_unmeasured(TwoCodes({"t.py": MANY, "empty.py": ()}, set(), set()), "t.py", "empty.py")
    assert (verdict.first_passes, verdict.left_out) == (len(MANY), 0)


async def test_a_file_that_could_never_be_collected_failed_before():
    broken = {"u.py"}
    session = TwoCodes({"t.py": MANY, "u.py": ("u.py::test",)}, broken, broken)
    verdict = await judge_unmeasured(session, "t.py", "u.py")
    assert (verdict.status, verdict.first_failures, verdict.left_out) == (Status.PASSED, 1, 0)


async def test_a_file_that_can_no_longer_be_collected_speaks_against_the_candidate():
    session = TwoCodes({"t.py": MANY, "u.py": ("u.py::test",)}, set(), {"u.py"})
    verdict = await judge_unmeasured(session, "t.py", "u.py")
    assert (verdict.status, [result.id for result in verdict.collateral]) == (Status.FAILED, ["u.py"])
