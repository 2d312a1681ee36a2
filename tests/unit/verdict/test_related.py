"""Which related tests count against a candidate, and which there was only no time for."""

from __future__ import annotations

from pathlib import Path

import pytest

from greenloop.core.records.problem import Problem
from greenloop.core.records.sandbox import Execution, Limits
from greenloop.core.records.spec import Spec
from greenloop.verdict.inputs import VerificationInputs
from greenloop.verdict.related import newly_failing

CASES = ("t.py::a", "t.py::b", "t.py::c", "t.py::old")


def inputs() -> VerificationInputs:
    problem = Problem(
        root=Path("/nowhere"), spec=Spec(cases=(), selectors=()), regions=(), originals={}, files={}, neighbours=CASES
    )
    outcomes = {**dict.fromkeys(CASES, "passed"), "t.py::old": "failed"}
    return VerificationInputs(
        problem=problem, outcomes=outcomes, limits=Limits(), suite_seconds=60, encode=lambda _files: {}
    )


def ended(*cases: tuple[str, str], cut: str = "", **about: object) -> Execution:
    """These cases ended so, and one was cut."""
    records: list[dict[str, object]] = [
        {"kind": "collected", "cases": [{"id": case, "path": "t.py", "line": 1} for case in CASES]}
    ]
    for case, outcome in cases:
        records.append({"kind": "begin", "id": case})
        phase = {"kind": "phase", "id": case, "type": None}
        records += [{**phase, "when": when, "outcome": outcome if when == "call" else "passed"} for when in PHASES]
    records += [{"kind": "begin", "id": cut}] if cut else [{"kind": "finished", "status": 0}]
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
