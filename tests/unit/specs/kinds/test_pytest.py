"""Collected tests as cases."""

from __future__ import annotations

import random
from pathlib import Path

from greenloop.core.ports import NoUser, Tools
from greenloop.core.records.problem import Problem
from greenloop.core.records.sandbox import Execution, TestRun
from greenloop.core.records.spec import Provenance, Spec
from greenloop.specs.kinds import pytest as pytest_spec


class Scripted:
    """A session that answers every run with the same execution and remembers what it was asked."""

    name = "scripted"

    def __init__(self, execution):
        self.execution = execution
        self.asked: list[TestRun] = []

    async def run(self, run):
        self.asked.append(run)
        return self.execution

    async def close(self):
        """Nothing is open."""


def problem_of(text, path, **more):
    return Problem(root=Path(), originals={path: text}, files={path: text}, **{"regions": (), "spec": Spec(), **more})


async def ask(completion):
    raise AssertionError(completion)


def tools(session):
    return Tools(ask=ask, run=ask, session=session, user=NoUser(), rng=random.Random(0))


async def test_collected_tests_are_cases():
    text = "def test_a(x):\n    pass\n"
    asked = Spec(selectors=("test_m.py::test_a",))
    cases = [{"id": f"test_m.py::test_a[{x}]", "path": "test_m.py", "line": 1} for x in "xy"]
    session = Scripted(Execution(records=({"kind": "start"}, {"kind": "collected", "cases": cases, "deselected": []})))
    problem = problem_of(text, "test_m.py", spec=asked, buffers={"m.py": b"x"})
    spec = await pytest_spec.collect(problem, tools(session))
    assert [case.id for case in spec.cases] == ["test_m.py::test_a[x]", "test_m.py::test_a[y]"]
    assert {case.provenance for case in spec.cases} == {Provenance.USER}
    assert spec.selectors == ("test_m.py::test_a",)
    (run,) = session.asked
    assert (run.selectors, run.collect, run.files) == (("test_m.py::test_a",), True, {"m.py": b"x"})


async def test_nothing_collected_has_no_cases():
    problem = problem_of("", "test_m.py", spec=Spec(selectors=("test_m.py::test_a",)))
    assert (await pytest_spec.collect(problem, tools(Scripted(Execution())))).cases == ()
