"""Code that passes and seems to cost less is measured in a real sandbox, and not believed; its honest twin is."""

from __future__ import annotations

import ast
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Region, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.requirements import Trial
from greenloop.core.verification_inputs import VerificationInputs
from greenloop.plugins.improve import judging, workloads
from greenloop.plugins.improve.aims import Goal
from greenloop.plugins.improve.comparison import build_comparison
from greenloop.plugins.improve.measuring import Bench
from greenloop.plugins.improve.records import Improvement
from greenloop_sandbox import CaseResult, Environment, Limits, SandboxSpec, Session
from greenloop_sandbox.backends.bubblewrap import Bubblewrap

from .attacks.attack import CostFake
from .attacks.fakes_measures import COSTS, FASTER, SMALLER

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(240), pytest.mark.asyncio(loop_scope="module")]


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("costs")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def session(root: Path, bare_environment: Environment) -> AsyncIterator[Session]:
    found = await Bubblewrap().open(SandboxSpec(root=root, environment=bare_environment))
    yield found
    await found.close()


async def judged(session: Session, root: Path, fake: CostFake) -> list[CaseResult]:
    """The results of the goal's cases: the same, and less."""
    node = ast.parse(fake.own).body[-1]
    assert isinstance(node, ast.FunctionDef)
    test = ast.parse(fake.test).body[-1]
    assert isinstance(test, ast.FunctionDef)
    texts = {"m.py": fake.own, "test_m.py": fake.test}
    case = Case(id=f"test_m.py::{test.name}", path="test_m.py", line=1)
    problem = Problem(
        root=root,
        spec=Spec(cases=(case,), selectors=(case.id,)),
        regions=(Region(path="m.py", qualname=node.name, start=node.lineno, end=node.end_lineno or 1),),
        originals=texts,
        files=texts,
        buffers={path: text.encode() for path, text in texts.items()},
    )
    inputs = VerificationInputs(
        problem=problem,
        outcomes={case.id: "passed"},
        limits=Limits(seconds=30.0),
        suite_seconds=30.0,
        encode=lambda texts: {path: text.encode() for path, text in texts.items()},
    )
    goal = Goal.MEMORY if fake.memory else Goal.TIME
    bench = Bench(inputs=inputs, session=session, goal=goal)
    workload, _cost = await bench.calibrate(workloads.build_workload(problem, fake.calls), 600)
    comparison, reason = await judging.try_comparison(bench, build_comparison(problem, fake.calls))
    assert not reason
    wanted = Improvement(goal=goal, workload=workload, comparison=comparison)
    trial = Trial(inputs=inputs, files={**texts, "m.py": fake.code}, changed={"m.py": fake.code}, session=session)
    return (await judging.judge(wanted, trial, Verdict(status=Status.PASSED))).results


@pytest.mark.parametrize("fake", COSTS, ids=lambda fake: fake.id)
async def test_a_faked_cost_is_not_believed(session: Session, root: Path, fake: CostFake):
    results = await judged(session, root, fake)
    assert not all(each.passed for each in results)


@pytest.mark.parametrize("twin", [FASTER, SMALLER], ids=lambda fake: fake.id)
async def test_an_honest_gain_is_believed(session: Session, root: Path, twin: CostFake):
    results = await judged(session, root, twin)
    assert [each.failure for each in results] == [None, None]
