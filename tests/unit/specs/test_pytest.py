"""Collected tests as cases."""

from __future__ import annotations

from greenloop.core.records.spec import Provenance, Target, TargetKind
from greenloop.specs.pytest import read_spec
from greenloop_sandbox import Execution

TARGET = Target(
    kind=TargetKind.TEST, path="test_m.py", qualname="test_a", selector="test_m.py::test_a", start=1, end=2, name_line=1
)


def test_collected_tests_are_cases():
    cases = [{"id": f"test_m.py::test_a[{x}]", "path": "test_m.py", "line": 1} for x in "xy"]
    records = ({"kind": "start"}, {"kind": "collected", "cases": cases, "deselected": []})
    spec = read_spec(Execution(records=records), TARGET)
    assert [case.id for case in spec.cases] == ["test_m.py::test_a[x]", "test_m.py::test_a[y]"]
    assert {case.provenance for case in spec.cases} == {Provenance.USER}
    assert spec.selectors == ("test_m.py::test_a",)


def test_nothing_collected_has_no_cases():
    assert read_spec(Execution(), TARGET).cases == ()
