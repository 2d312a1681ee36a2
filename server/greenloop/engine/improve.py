"""Adds a goal to the baseline of passing code: its case, measurements, and instructions for the model."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from greenloop.core.classify import classify
from greenloop.core.errors import UsageError
from greenloop.core.ports import Tools
from greenloop.core.python.ast_source import region_definition
from greenloop.core.records.goal import Goal, Improvement, Workload
from greenloop.core.records.outcome import LEAST_CHANGES
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Provenance, Spec
from greenloop.core.run_state import Baseline
from greenloop.core.verification_inputs import VerificationInputs
from greenloop.localize.context import BaselineContext
from greenloop.specs import goals, host_checks
from greenloop.specs.comparison import build_comparison
from greenloop.specs.kinds import constraints
from greenloop.verdict.beyond_tests import mutation_testing
from greenloop.verdict.beyond_tests.changed_functions import ChangedPart
from greenloop.verdict.goals import improvement
from greenloop.verdict.goals.gain import Bench
from greenloop.wording.gain import show_cost
from greenloop_sandbox import CaseResult, Failure

NOT_COMPARED = "Beyond the tests, nothing compared what it does with what your code does"
NOT_ALL_COMPARED = "Beyond the tests, only its results were compared with those of your code"
STRENGTH_SECONDS = 15.0  # wall time for changes of code that cannot be compared
FOR_YOU = "Whether it does what the comment asks is for you to judge."


async def add_goal(context: BaselineContext, baseline: Baseline, tools: Tools, inputs: VerificationInputs) -> Baseline:
    """Adds the goal to the baseline: cases that the user's own code does not pass, and what candidates have to reach.

    Raises `UsageError` where the goal is not stated, and `CannotVerifyError` where it cannot be measured.
    """
    goal = context.goal
    assert goal is not None
    if goal is Goal.COMMENT:
        if not baseline.problem.instruction:
            raise UsageError(
                "No comment says what to change.", remedy="Say it: --comment TEXT, or `# review: ...` in the function."
            )
        return replace(baseline, doubt=FOR_YOU)
    if goal is Goal.LIMITS:
        baseline = await _with_limits(baseline, tools)
        if baseline.passing:
            return baseline
    name = baseline.problem.regions[0].qualname
    calls = goals.read_calls(context.calls, name)
    context.report_status("comparing and measuring the unchanged code")
    workload = goals.build_workload(baseline.problem, calls)
    memory = context.settings.improve.memory if goal is Goal.TIME else 0.0
    bench = Bench(inputs=inputs, session=context.session, goal=goal, memory=memory)
    cost = 0.0
    if goal is not Goal.LIMITS:
        _check_kind(baseline.problem, goal)
        workload, cost = await bench.calibrate(workload, context.deadline.left_to_search)
    comparison, doubt = await _comparison(context, baseline, inputs, calls)
    if comparison is not None:
        problem = baseline.problem
        problem = replace(problem, spec=problem.spec + Spec(cases=(goals.same_case(problem),)))
        results = [CaseResult(id=goals.same_case(problem).id, outcome="passed")]
        baseline = _with_results(replace(baseline, problem=problem), results)
    if goal is Goal.LIMITS:
        return replace(baseline, improvement=Improvement(goal=Goal.LIMITS, comparison=comparison), doubt=doubt)
    baseline = await _with_cost(baseline, bench, workload, cost)
    below = context.settings.improve.below
    wanted = Improvement(goal=goal, workload=workload, comparison=comparison, below=below, memory=memory)
    return replace(baseline, improvement=wanted, doubt=doubt)


async def _comparison(
    context: BaselineContext, baseline: Baseline, inputs: VerificationInputs, calls: Sequence[str]
) -> tuple[Workload | None, str]:
    """Returns the comparison, tried with the user's own code, and the reservation where it leaves something open.

    Tests that notice nearly every small change of the code are no weak suite: then there is no reservation.
    """
    bench = Bench(inputs=inputs, session=context.session)
    comparison, reason = await improvement.try_comparison(bench, build_comparison(baseline.problem, calls))
    if not reason:
        return comparison, ""
    problem, region = baseline.problem, baseline.problem.regions[0]
    context.report_status("measuring what the tests notice")
    inputs = replace(inputs, problem=problem)
    strength = await mutation_testing.measure(
        inputs,
        context.session,
        inputs.test_run({}),
        {region.path: problem.files[region.path]},
        [ChangedPart(path=region.path, start=region.start, end=region.end)],
        seconds=STRENGTH_SECONDS,
        report_status=context.report_status,
    )
    share = strength.share
    if share is not None and strength.tried >= LEAST_CHANGES and share >= context.settings.improve.strength:
        return comparison, ""
    noticed = f"its tests notice {strength.killed} of {strength.tried} one-token changes of it"
    return comparison, f"{NOT_COMPARED if comparison is None else NOT_ALL_COMPARED}: {reason}; {noticed}."


def _check_kind(problem: Problem, goal: Goal) -> None:
    """Raises `UsageError` for a class, of which one method has to be named."""
    region = problem.regions[0]
    found = region_definition(problem.files[region.path], region.start, region.end)
    if found is not None and isinstance(found[0], ast.ClassDef):
        raise UsageError(
            f"{region.qualname} is a class; less {goal} is asked for of one function.",
            remedy=f"Name a method: {region.path}::{region.qualname}.METHOD",
        )


async def _with_cost(baseline: Baseline, bench: Bench, workload: Workload, cost: float) -> Baseline:
    """Returns the baseline with the cost of the user's own code, and its dearest lines, as a failing case."""
    problem, goal = baseline.problem, bench.goal
    dearest = await improvement.describe_profile(bench, {}, workload)
    message = "\n".join([f"What calls it takes {show_cost(goal, cost)} now.", *dearest])
    case = goals.gain_case(problem, goal)
    asked = [goals.INSTRUCTIONS[goal], goals.LESS_MEMORY_TOO if bench.memory else ""]
    instruction = "\n".join(text for text in (problem.instruction, *asked) if text)
    problem = replace(problem, spec=problem.spec + Spec(cases=(case,)), instruction=instruction)
    failure = Failure(type=improvement.TYPES[goal], message=message)
    results = [CaseResult(id=case.id, outcome="failed", failure=failure)]
    return _with_results(replace(baseline, problem=problem), results)


async def _with_limits(baseline: Baseline, tools: Tools) -> Baseline:
    """Returns the baseline with what the user's own code exceeds; passing where it keeps all limits."""
    problem = baseline.problem
    if not any(case.provenance is Provenance.CONSTRAINT for case in problem.spec.cases):
        raise UsageError(
            "No limits are set.", remedy='Name them: --set spec.constraints=\'["max-lines 20", "max-complexity 5"]\''
        )
    as_new = tuple(replace(region, created=True) for region in problem.regions)  # all of it is judged, not a change
    results = await constraints.judge(replace(problem, regions=as_new), problem.files, tools)
    return replace(baseline, passing=True) if all(each.passed for each in results) else _with_results(baseline, results)


def _with_results(baseline: Baseline, results: Sequence[CaseResult]) -> Baseline:
    verdict = host_checks.with_results(baseline.attempt.verdict, results)
    error_class, group = classify(verdict)
    attempt = replace(baseline.attempt, verdict=verdict, error_class=error_class, group=group)
    return replace(baseline, attempt=attempt)
