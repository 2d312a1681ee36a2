"""The user's own tests: pytest collects the target with the user's own code, before any candidate exists.

A part's `collect(problem, tools)`: the selectors of its specification are collected over its texts.
"""

from __future__ import annotations

from greenloop.core.nouns import Case, Execution, Problem, Provenance, Run, Spec, Target
from greenloop.core.ports import Tools
from greenloop.core.records import collected


async def collect(problem: Problem, tools: Tools) -> Spec:
    """Each collected test as a case; no cases when nothing could be collected (the runner knows why)."""
    selectors = problem.spec.selectors
    execution = await tools.session.run(Run(selectors=selectors, files=dict(problem.buffers), collect=True))
    return Spec(cases=_cases(execution), selectors=selectors)


def read(execution: Execution, target: Target) -> Spec:
    """The specification in what a collecting execution reported. Pure."""
    cases = _cases(execution)
    return Spec(cases=cases, selectors=(target.selector,) if cases else ())


def _cases(execution: Execution) -> tuple[Case, ...]:
    return tuple(
        Case(id=item.id, path=item.path, line=item.line, provenance=Provenance.USER, confirmed=True)
        for item in collected(execution)
    )
