"""Which passing cases are traced with the failing ones, and which lines are kept."""

from __future__ import annotations

from pathlib import Path

from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region, Spec
from greenloop.localize.evidence import gather_evidence
from greenloop.localize.target_run import MOST_PASSING, nearest, with_suspicion
from greenloop_sandbox.report.traces import ReachedFunction, StatementTrace

TEXT = "".join(f"def f{number}():\n    return {number}\n" for number in range(9))


def hits(*numbers: int) -> list[ReachedFunction]:
    return [ReachedFunction(path="m.py", firstlineno=2 * n + 1, name=f"f{n}", depth=1) for n in numbers]


def test_cases_that_enter_most_suspects_and_little_else_come_first():
    reached = {"bad": hits(0, 1, 2), "wide": hits(*range(9)), "alike": hits(0, 1, 2), "part": hits(2), "none": hits(8)}
    evidence = gather_evidence(reached, {"bad": None}, ["none", "part", "wide", "alike"], {"m.py": TEXT}.get)
    assert nearest(evidence) == ["alike", "part", "wide"]


def test_not_every_case_is_traced():
    many = [f"t{number}" for number in range(200)]
    reached = {case: hits(1) for case in ["bad", *many]}
    evidence = gather_evidence(reached, {"bad": None}, many, {"m.py": TEXT}.get)
    assert nearest(evidence) == many[:MOST_PASSING]


def test_lines_of_the_regions_alone_are_kept():
    regions = (
        Region(path="m.py", qualname="f1", start=3, end=4),
        Region(path="m.py", qualname="f2", start=5, end=6, created=True),
    )
    problem = Problem(
        root=Path("/w"), spec=Spec(cases=(), selectors=()), regions=regions, originals={}, files={"m.py": TEXT}
    )
    traces = {"bad": StatementTrace(lines={"m.py": frozenset({2, 4, 6})})}
    assert with_suspicion(problem, traces, ["bad"], []).suspicion == {"m.py": {4: 1.0}}
    assert with_suspicion(problem, {}, ["bad"], []).suspicion == {}
