"""What a run over passing code adds to its baseline: the goal's case, what is measured, and what the model is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from greenloop.core.classify import classify
from greenloop.core.errors import UsageError
from greenloop.core.ports import Tools
from greenloop.core.records.goal import Goal
from greenloop.core.records.spec import Provenance, Spec
from greenloop.core.records.verdict import CaseResult, Failure
from greenloop.core.run_state import Baseline
from greenloop.core.summary import show_seconds
from greenloop.localize.context import BaselineContext
from greenloop.specs import goals, host_checks
from greenloop.specs.kinds import constraints
from greenloop.verdict import gain
from greenloop.verdict.verifier import Verifier

DOUBTS = {
    Goal.TIME: "Beyond the tests, nothing compared what the new code returns with what the code returned before.",
    Goal.LIMITS: "Beyond the tests, nothing compared what the new code returns with what the code returned before.",
    Goal.COMMENT: "Whether it does what the comment asks is for you to judge.",
}


def doubt(context: BaselineContext) -> str:
    """Returns the reservation about a result for this goal; it keeps the result from being applied without asking."""
    return DOUBTS[context.goal] if context.goal is not None else ""


async def add_goal(context: BaselineContext, baseline: Baseline, tools: Tools, verifier: Verifier) -> Baseline:
    """Returns the baseline with the goal as a case that the user's own code fails.

    Raises `UsageError` where the goal is not stated, and `CannotVerifyError` where it cannot be measured.
    """
    assert context.goal is not None
    if context.goal is Goal.TIME:
        return await _with_time(context, baseline, verifier)
    if context.goal is Goal.LIMITS:
        return await _with_limits(baseline, tools)
    if not baseline.problem.instruction:
        raise UsageError("No comment says what to change.", remedy="Say it: --comment TEXT, or `# review: ...` in it.")
    return baseline


async def _with_time(context: BaselineContext, baseline: Baseline, verifier: Verifier) -> Baseline:
    problem = baseline.problem
    verifier.workload = goals.build_workload(problem, context.calls)
    context.report_status("measuring the unchanged code")
    seconds = await gain.own_seconds(verifier.inputs, context.session, verifier.workload)
    case = goals.time_case(problem)
    failure = Failure(type=gain.SLOW, message=f"What calls it takes {show_seconds(seconds)} now.")
    instruction = "\n".join(text for text in (problem.instruction, goals.FASTER) if text)
    problem = replace(problem, spec=problem.spec + Spec(cases=(case,)), instruction=instruction)
    return _failing(replace(baseline, problem=problem), [CaseResult(id=case.id, outcome="failed", failure=failure)])


async def _with_limits(baseline: Baseline, tools: Tools) -> Baseline:
    problem = baseline.problem
    if not any(case.provenance is Provenance.CONSTRAINT for case in problem.spec.cases):
        raise UsageError(
            "No limits are set.", remedy='Name them: --set spec.constraints=\'["max-lines 20", "max-complexity 5"]\''
        )
    as_new = tuple(replace(region, created=True) for region in problem.regions)  # all of it is judged, not a change
    results = await constraints.judge(replace(problem, regions=as_new), problem.files, tools)
    if all(result.passed for result in results):
        return replace(baseline, passing=True)
    return _failing(baseline, results)


def _failing(baseline: Baseline, results: Sequence[CaseResult]) -> Baseline:
    verdict = host_checks.with_results(baseline.attempt.verdict, results)
    error_class, group = classify(verdict)
    attempt = replace(baseline.attempt, verdict=verdict, error_class=error_class, group=group)
    return replace(baseline, attempt=attempt)
