"""`greenloop explain`: the failure, the values at it, and what is most likely at fault."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from fake_engine import CASE, attempt
from greenloop.cli.main import main
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region, Spec
from greenloop.core.run_state import Baseline
from greenloop.engine.testing.explain import Explanation, SuspiciousLine
from greenloop_sandbox import CaseResult, Failure, Frame
from greenloop_sandbox.report.inspections import ShownFrame

REGION = Region(path="m.py", qualname="double", start=1, end=2)
FRAME = Frame(path="test_m.py", line=5, function="test_double")
LIBRARY = Frame(path="/usr/lib/python3.11/unittest/case.py", line=866, function="TestCase._baseAssertEqual")
PASSED = CaseResult(id="test_m.py::test_before", outcome="passed")
FAILED = CaseResult(
    id=CASE,
    outcome="failed",
    failure=Failure(type="AssertionError", message="assert 3 == 4\n +  where 3 = double(2)", frames=(FRAME, LIBRARY)),
)


def explanation(**change) -> Explanation:
    verdict = replace(attempt(0).verdict, cases=(PASSED, FAILED))
    problem = Problem(root=Path("/w"), spec=Spec(), regions=(REGION,), originals={}, files={})
    baseline = Baseline(problem=problem, attempt=replace(attempt(0), verdict=verdict), outcomes={}, **change)
    return Explanation(
        baseline=baseline,
        suspects=() if change else (REGION,),
        lines=(SuspiciousLine(path="m.py", line=2, text="return x + 1", suspicion=1.0),),
        frames=(ShownFrame(place=replace(FRAME, path="m.py", line=2), code="return x + 1", values={"x": "2"}),),
    )


@pytest.fixture
def explained(project, monkeypatch):
    """`explained(explanation)` is what the engine finds."""

    def put(found: Explanation) -> None:
        async def explain(_root, target, *, settings, report_status):
            assert target == CASE
            return found

        monkeypatch.setattr("greenloop.plugins.agents.commands.explain.explain", explain)

    return put


@pytest.mark.parametrize(
    ("change", "code", "lines"),
    [
        (
            {},
            1,
            [
                f"{CASE} fails: AssertionError: assert 3 == 4 (test_m.py:5)",
                "    +  where 3 = double(2)",
                "Values where it fails:",
                "  m.py:2 in test_double: return x + 1",
                "      x = 2",
                "Most likely at fault:",
                "  1. double, m.py:1",
                "       1.00     2  return x + 1",
                f"`greenloop fix {CASE}` looks for a change that makes it pass.",
            ],
        ),
        ({"passing": True}, 0, ["It passes, so there is nothing to explain."]),
        (
            {"fault": "requests is missing.", "remedy": "pip install requests"},
            1,
            [
                f"{CASE} fails: AssertionError: assert 3 == 4 (test_m.py:5)",
                "    +  where 3 = double(2)",
                "No change of the code can help: requests is missing. pip install requests",
            ],
        ),
    ],
    ids=["failing", "passing", "environment"],
)
def test_what_a_person_reads(explained, capsys, change, code, lines):
    explained(explanation(**change))
    assert main(["explain", CASE]) == code
    assert [line for line in capsys.readouterr().out.splitlines() if line] == lines


def test_programs_read_the_same(explained, capsys):
    explained(explanation())
    assert main(["explain", CASE, "--json"]) == 1
    value = json.loads(capsys.readouterr().out)
    assert value["failing"] == [
        {"id": CASE, "error": "AssertionError", "message": "assert 3 == 4\n +  where 3 = double(2)"}
    ]
    assert value["values"][0]["values"] == {"x": "2"}
    assert value["suspects"] == [{"path": "m.py", "name": "double", "start": 1, "end": 2}]
    assert value["lines"][0]["line"] == 2
