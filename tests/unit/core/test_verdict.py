"""The verdict by table: records in, status out."""

from __future__ import annotations

import itertools

import pytest

from greenloop.core.records.verdict import Status
from greenloop.core.verdict import judge
from greenloop_sandbox import Execution

A, B = "test_m.py::test_a", "test_m.py::test_b"


def report(*cases, ids=None, status=0, extra=(), finished=True):
    """A whole honest report; each case is (id, outcome of the call, exception type)."""
    records = [{"kind": "start"}]
    records += list(extra)
    ids = [case[0] for case in cases] if ids is None else ids
    records.append({"kind": "collected", "cases": [{"id": i, "path": "test_m.py", "line": 1} for i in ids]})
    for case, outcome, kind in cases:
        records.append({"kind": "begin", "id": case})
        for when in ("setup", "call", "teardown"):
            call = when == "call"
            records.append(
                {
                    "kind": "phase",
                    "id": case,
                    "when": when,
                    "outcome": outcome if call else "passed",
                    "type": kind if call else None,
                }
            )
    if finished:
        records.append({"kind": "finished", "status": status})
    return renumbered(records)


def renumbered(records):
    return tuple({**record, "seq": number} for number, record in enumerate(records))


def check(records, expected, *, status=0, killed="", baseline=None, broken="", wanted=(A,), word=""):
    execution = Execution(records=records, status=status, killed=killed, broken=broken)
    verdict = judge(wanted, baseline or {}, execution)
    assert verdict.status is expected, verdict
    assert word in verdict.reason, verdict.reason
    return verdict


GOOD = (A, "passed", None)


def test_a_whole_honest_report_passes():
    assert check(report(GOOD), Status.PASSED).score == 1.0


@pytest.mark.parametrize(
    ("records", "options", "expected"),
    [
        (report((A, "failed", "AssertionError"), status=1), {"status": 1}, Status.FAILED),
        (report(GOOD, (B, "failed", "AssertionError"), status=1), {"status": 1, "wanted": (A, B)}, Status.FAILED),
        (report(GOOD), {"killed": "timeout"}, Status.TIMEOUT),
        (report(GOOD), {"killed": "memory"}, Status.CRASHED),
        (report(GOOD), {"broken": "the engine went away"}, Status.ENVIRONMENT),
        (report(GOOD, finished=False), {}, Status.TAMPERED),
        (report(GOOD, finished=False), {"status": -11}, Status.CRASHED),
        (report(GOOD, finished=False), {"status": 3}, Status.CRASHED),
        (report(GOOD), {"status": 1}, Status.TAMPERED),
        (report((A, "passed", "ZeroDivisionError")), {}, Status.TAMPERED),
        (report((A, "skipped", "Skipped")), {}, Status.TAMPERED),
        (report(GOOD), {"wanted": (A, B)}, Status.TAMPERED),
        (report(GOOD, (A, "passed", None)), {}, Status.TAMPERED),
        (report(ids=[]), {"status": 5}, Status.NOT_COLLECTED),
        ((), {"status": 0}, Status.TAMPERED),
        (report(GOOD)[1:], {}, Status.TAMPERED),
        ((*report(GOOD), {"kind": "forged", "seq": -1}), {}, Status.TAMPERED),
        (report(GOOD), {"wanted": ()}, Status.FAILED),
    ],
)
def test_everything_else_does_not(records, options, expected):
    check(records, expected, **options)


def test_a_skip_that_the_baseline_had_is_no_failure_beside_a_pass():
    records = report(GOOD, (B, "skipped", "Skipped"))
    check(records, Status.PASSED, wanted=(A, B), baseline={B: "skipped"})


def test_skips_alone_never_pass():
    check(report((A, "skipped", "Skipped")), Status.FAILED, baseline={A: "skipped"})


def test_an_expected_failure_that_was_none_before_is_named():
    records = list(report((A, "skipped", "AssertionError")))
    for record in records:
        if record["kind"] == "phase" and record["when"] == "call":
            record["wasxfail"] = "reason"
    check(tuple(records), Status.TAMPERED, word="xfailed")


def test_a_deselected_case_is_tampering():
    records = [dict(record) for record in report(GOOD)]
    records[1]["deselected"] = [A]
    check(tuple(records), Status.TAMPERED, word="deselected")


def test_a_collection_error_says_what_it_was():
    error = {"kind": "collect_error", "id": "test_m.py", "type": "ImportError", "message": "no x", "frames": []}
    verdict = check(report(ids=[], extra=[error], status=2), Status.NOT_COLLECTED, status=2, word="no x")
    assert verdict.cases[0].failure.type == "ImportError"


def test_no_report_with_a_record_left_out_or_moved_passes():
    whole = report(GOOD, (B, "passed", None))
    for lost in range(len(whole)):
        assert (
            judge((A, B), {}, Execution(records=whole[:lost] + whole[lost + 1 :], status=0)).status is not Status.PASSED
        )
    for one, other in itertools.combinations(range(len(whole)), 2):
        moved = list(whole)
        moved[one], moved[other] = moved[other], moved[one]
        assert judge((A, B), {}, Execution(records=tuple(moved), status=0)).status is not Status.PASSED


@pytest.mark.parametrize("when", ["setup", "call", "teardown"])
def test_a_missing_phase_is_no_pass_even_in_a_gapless_report(when):
    records = [r for r in report(GOOD) if r.get("when") != when]
    check(renumbered(records), Status.TAMPERED)


def with_subtests(*outcomes):
    """An honest report in which A has these subtests, each told as a call before the test's own."""
    records = list(report(GOOD))
    place = next(number for number, record in enumerate(records) if record.get("when") == "call")
    own = records[place]
    told = [
        {**own, "outcome": outcome, "type": None if outcome == "passed" else "AssertionError"} for outcome in outcomes
    ]
    return renumbered([*records[:place], *told, *records[place:]])


def test_subtests_are_no_tampering_and_each_counts():
    check(with_subtests("passed", "passed"), Status.PASSED)
    check(with_subtests("passed", "failed"), Status.FAILED)
    check(with_subtests("failed", "passed"), Status.FAILED)


@pytest.mark.parametrize("when", ["setup", "teardown"])
def test_other_phases_are_told_once(when):
    records = list(report(GOOD))
    place = next(number for number, record in enumerate(records) if record.get("when") == when)
    check(renumbered([*records[: place + 1], *records[place:]]), Status.TAMPERED, word="twice")
