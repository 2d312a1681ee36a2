"""Collects the user's own tests with pytest, over the user's own code, before any candidate exists.

`collect` collects the selectors of the problem's spec over its unsaved buffers.
"""

from __future__ import annotations

from greenloop.core.ports import Tools
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Provenance, Spec, Target
from greenloop_sandbox import Execution, TestRun, collected_cases


async def collect(problem: Problem, tools: Tools) -> Spec:
    """Each collected test as a case; no cases when nothing could be collected (the report says why)."""
    selectors = problem.spec.selectors
    execution = await tools.session.run(TestRun(selectors=selectors, files=dict(problem.buffers), collect=True))
    return Spec(cases=_cases(execution), selectors=selectors)


def read_spec(execution: Execution, target: Target) -> Spec:
    """The spec that a collecting execution reported. Pure."""
    cases = _cases(execution)
    return Spec(cases=cases, selectors=(target.selector,) if cases else ())


def _cases(execution: Execution) -> tuple[Case, ...]:
    return tuple(
        Case(id=item.id, path=item.path, line=item.line, provenance=Provenance.USER, confirmed=True)
        for item in collected_cases(execution)
    )
