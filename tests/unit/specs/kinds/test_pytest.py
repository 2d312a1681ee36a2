"""Collected tests as cases."""

from __future__ import annotations

from greenloop.core.records.spec import Provenance, Spec
from greenloop.specs.kinds import pytest as pytest_spec
from greenloop_sandbox import Execution
from scripted_session import ScriptedSession, make_problem, make_tools


async def test_collected_tests_are_cases():
    text = "def test_a(x):\n    pass\n"
    asked = Spec(selectors=("test_m.py::test_a",))
    cases = [{"id": f"test_m.py::test_a[{x}]", "path": "test_m.py", "line": 1} for x in "xy"]
    session = ScriptedSession(
        Execution(records=({"kind": "start"}, {"kind": "collected", "cases": cases, "deselected": []}))
    )
    problem = make_problem(text, "test_m.py", spec=asked, buffers={"m.py": b"x"})
    spec = await pytest_spec.collect(problem, make_tools(session))
    assert [case.id for case in spec.cases] == ["test_m.py::test_a[x]", "test_m.py::test_a[y]"]
    assert {case.provenance for case in spec.cases} == {Provenance.USER}
    assert spec.selectors == ("test_m.py::test_a",)
    (run,) = session.asked
    assert (run.selectors, run.collect, run.files) == (("test_m.py::test_a",), True, {"m.py": b"x"})


async def test_nothing_collected_has_no_cases():
    problem = make_problem("", "test_m.py", spec=Spec(selectors=("test_m.py::test_a",)))
    assert (await pytest_spec.collect(problem, make_tools(ScriptedSession(Execution())))).cases == ()
