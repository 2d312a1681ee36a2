"""Differences between a session on the host and one in the sandbox."""

from __future__ import annotations

import pytest

from greenloop.engine.testing.run_tests import SuiteReport
from greenloop.plugins.pipelines.pytest_plugin.compare import MAX_LISTED, describe, host_outcomes
from greenloop_sandbox import CaseResult, Failure
from greenloop_sandbox.report.cases import CollectError

A, B, C = "tests/test_m.py::test_a", "tests/test_m.py::test_b", "tests/test_n.py::test_c"


def phases(*outcomes: tuple[str, str], wasxfail: str | None = None):
    return [{"when": when, "outcome": outcome, "wasxfail": wasxfail, "seconds": 0.1} for when, outcome in outcomes]


@pytest.mark.parametrize(
    ("recorded", "outcome"),
    [
        (phases(("setup", "passed"), ("call", "passed"), ("teardown", "passed")), "passed"),
        (phases(("setup", "passed"), ("call", "failed"), ("teardown", "passed")), "failed"),
        (phases(("setup", "failed"), ("teardown", "passed")), "error"),
        (phases(("setup", "passed"), ("call", "passed"), ("teardown", "failed")), "error"),
        (phases(("setup", "skipped"), ("teardown", "passed")), "skipped"),
        (phases(("setup", "passed"), ("call", "skipped"), ("teardown", "passed"), wasxfail="why"), "xpassed"),
    ],
)
def test_outcomes_of_the_host(recorded, outcome):
    if outcome == "xpassed":
        # Only the call carries the mark.
        recorded[0]["wasxfail"] = recorded[2]["wasxfail"] = None
        assert host_outcomes({A: recorded}) == {A: "xfailed"}
        recorded[1]["outcome"] = "passed"
    assert host_outcomes({A: recorded}) == {A: outcome}


def test_the_same_is_one_line():
    report = SuiteReport(results=(CaseResult(id=A, outcome="passed"), CaseResult(id=B, outcome="passed")), seconds=1.25)
    assert [*describe({A: "passed"}, report)] == ["greenloop: 1 of 1 outcomes are the same in the sandbox, 1.2 s"]


def test_each_difference_is_named_with_its_reason():
    error = Failure(type="OSError", message="no network\nmore")
    report = SuiteReport(
        results=(CaseResult(id=A, outcome="failed", failure=error),),
        errors=(
            CollectError(id="tests/test_n.py", failure=Failure(type="ImportError", message="no x"), missing_name=None),
        ),
    )
    assert [*describe({A: "passed", B: "skipped", C: "passed"}, report)] == [
        "greenloop: 0 of 3 outcomes are the same in the sandbox:",
        f"  {A}: passed here, failed in the sandbox: OSError: no network",
        f"  {B}: skipped here, did not run in the sandbox",
        f"  {C}: passed here, could not be imported in the sandbox: ImportError: no x",
    ]


def test_a_long_list_is_cut():
    found = [*describe({f"t.py::test_{number}": "passed" for number in range(MAX_LISTED + 3)}, SuiteReport())]
    assert len(found) == MAX_LISTED + 2
    assert found[-1] == "  and 3 more"
