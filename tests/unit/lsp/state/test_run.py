"""What a run concerns: the code that it may change, and what its result changes in the end."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from conversation_attempts import look, turn
from double_problem import PROBLEM
from editor_runs import a_run, record
from fake_engine import attempt, solved
from greenloop.core.events import Looked, Planned, Started, Tested
from greenloop.core.records.attempt import Candidate
from greenloop.core.records.spec import Region, Target, TargetKind

TARGET = Target(kind=TargetKind.TEST, path="t.py", qualname="t", selector="t.py::t", start=1, end=1, name_line=1)
OTHER = Region(path="shop/core.py", qualname="lookup", start=1, end=2)
DATA = Region(path="shop/rates.json", qualname="", start=1, end=1)


def started(**changes):
    problem = replace(PROBLEM, **changes)
    return Started(problem=problem, baseline=attempt(0), model="m", preset="p", sandbox="s", attempts=5)


@pytest.mark.parametrize(("region", "name"), [(OTHER, "lookup"), (DATA, "shop/rates.json")])
def test_a_result_elsewhere_is_named_and_concerned(region, name):
    """A capable model may change what was not suspected."""
    run = a_run(Path("/w"), TARGET)
    record(run, started(regions=()))
    assert run.changed_name == "t"
    one = turn(1, candidate=Candidate(texts={region: "x\n"}), accepted=True)
    record(run, Tested(attempt=one))
    run.progress.outcome = solved(None, attempts=(attempt(0), one), best=1)
    assert run.changed_name == name
    assert run.concerns("shop/core.py", "lookup") == (region is OTHER)


def test_looks_belong_to_the_attempt_under_way():
    run = a_run(Path("/w"), TARGET)
    record(run, started())
    planned = Planned(attempt=1, draft=turn(1).draft, model="m", prompt_tokens=10)
    record(run, planned)
    record(run, Looked(attempt=1, look=look(path="m.py")))
    assert (len(run.progress.looks), run.progress.status) == (1, "looking: read m.py")
    record(run, Tested(attempt=turn(1, look(path="m.py"))))
    assert run.progress.looks == []
    record(run, Looked(attempt=2, look=look(path="m.py")))
    record(run, replace(planned, attempt=3))
    assert run.progress.looks == []
