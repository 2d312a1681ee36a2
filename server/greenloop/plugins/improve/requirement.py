"""Adds a goal to the baseline of passing code: its case, measurements, and instructions for the model."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from greenloop.core.errors import UsageError
from greenloop.core.feature_data import Shown
from greenloop.core.python.ast_source import region_definition
from greenloop.core.records.outcome import LEAST_CHANGES
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.requirements import Requirement, Start
from greenloop.core.text.json_codec import from_json
from greenloop.plugins.improve import judging, workloads
from greenloop.plugins.improve.aims import Goal
from greenloop.plugins.improve.comparison import build_comparison
from greenloop.plugins.improve.measuring import Bench
from greenloop.plugins.improve.records import Gain, Improvement, Workload
from greenloop.plugins.improve.wording import describe_gain, heat_rows, show_cost
from greenloop.verdict.beyond_tests import mutation_testing
from greenloop.verdict.beyond_tests.changed_parts import ChangedPart
from greenloop_sandbox import CaseResult, Failure

NOT_COMPARED = "Beyond the tests, nothing compared what it does with what your code does"
NOT_ALL_COMPARED = "Beyond the tests, only its results were compared with those of your code"
STRENGTH_SECONDS = 15.0  # wall time for changes of code that cannot be compared
FOR_YOU = "Whether it does what the comment asks is for you to judge."


async def begin(start: Start) -> Requirement:
    """Begins a goal: cases that the user's own code does not pass, and what is measured and compared.

    Raises `UsageError` where the goal is not stated, and `CannotVerifyError` where it cannot be measured.
    """
    goal, problem = Goal(start.options["goal"]), start.problem
    wanted = Requirement(name="improve", goal=goal.words)
    if goal is Goal.COMMENT:
        if not problem.instruction:
            raise UsageError(
                "No comment says what to change.", remedy="Say it: --comment TEXT, or `# review: ...` in the function."
            )
        return replace(wanted, doubt=FOR_YOU)
    if goal is Goal.LIMITS:
        wanted = replace(wanted, results=await _exceeded_limits(start))
        if not wanted.results:
            return replace(wanted, is_met=True)
    calls = workloads.read_calls(start.options["calls"], problem.regions[0].qualname)
    start.report_status("comparing and measuring the unchanged code")
    workload = workloads.build_workload(problem, calls)
    memory = float(start.tools.options["improve.memory"]) if goal is Goal.TIME else 0.0
    assert start.trial.session is not None
    bench = Bench(inputs=start.trial.inputs, session=start.trial.session, goal=goal, memory=memory)
    cost = 0.0
    if goal is not Goal.LIMITS:
        _check_kind(problem, goal)
        workload, cost = await bench.calibrate(workload, start.trial.deadline.left_to_search)
    comparison, doubt = await _comparison(start, bench, calls)
    wanted = replace(wanted, doubt=doubt)
    if comparison is not None:
        same = workloads.same_case(problem)
        passed = CaseResult(id=same.id, outcome="passed")
        wanted = replace(wanted, spec=Spec(cases=(same,)), results=(*wanted.results, passed))
    aim = Improvement(goal=goal, comparison=comparison)
    if goal is not Goal.LIMITS:
        wanted = await _with_cost(wanted, bench, workload, cost)
        aim = replace(aim, workload=workload, below=start.tools.options["improve.below"], memory=memory)
    return replace(wanted, judge=partial(judging.judge, aim))


def choose_preset(options: Mapping[str, Any], *, has_planner: bool) -> str:
    """The preset of a goal; where a planner is to name algorithms first, the one that asks it."""
    return "improve-planned" if has_planner and options["goal"] in (Goal.TIME, Goal.MEMORY) else "improve"


def show(data: Mapping[str, Any]) -> Shown:
    """The gain in words, and the lines that cost most before and after."""
    gain = from_json(Gain, data)
    return Shown(text=describe_gain(gain), fields={"gain": data}, details=lambda most: heat_rows(gain, most))


async def _comparison(start: Start, bench: Bench, calls: Sequence[str]) -> tuple[Workload | None, str]:
    """Returns the comparison, tried with the user's own code, and the reservation where it leaves something open.

    Tests that notice nearly every small change of the code are no weak suite: then there is no reservation.
    """
    bench = Bench(inputs=bench.inputs, session=bench.session)
    problem, region = start.problem, start.problem.regions[0]
    comparison, reason = await judging.try_comparison(bench, build_comparison(problem, calls))
    if not reason:
        return comparison, ""
    start.report_status("measuring what the tests notice")
    strength = await mutation_testing.measure(
        bench.inputs,
        bench.session,
        bench.inputs.test_run({}),
        {region.path: problem.files[region.path]},
        [ChangedPart(path=region.path, start=region.start, end=region.end)],
        seconds=STRENGTH_SECONDS,
        report_status=start.report_status,
    )
    share = strength.share
    if share is not None and strength.tried >= LEAST_CHANGES and share >= start.tools.options["improve.strength"]:
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


async def _with_cost(wanted: Requirement, bench: Bench, workload: Workload, cost: float) -> Requirement:
    """Adds the cost of the user's own code, and its most expensive lines, as a failing case."""
    dearest = await judging.describe_profile(bench, {}, workload)
    message = "\n".join([f"What calls it takes {show_cost(bench.goal, cost)} now.", *dearest])
    case = workloads.gain_case(bench.inputs.problem, bench.goal)
    asked = [workloads.INSTRUCTIONS[bench.goal], workloads.LESS_MEMORY_TOO if bench.memory else ""]
    failure = Failure(type=judging.TYPES[bench.goal], message=message)
    return replace(
        wanted,
        spec=wanted.spec + Spec(cases=(case,)),
        instruction="\n".join(filter(None, asked)),
        results=(*wanted.results, CaseResult(id=case.id, outcome="failed", failure=failure)),
    )


async def _exceeded_limits(start: Start) -> Sequence[CaseResult]:
    """The results of the user's limits for its own code; none where it keeps them all."""
    limits = next((each for each in start.others if each.name == "constraints"), None)
    if limits is None:
        raise UsageError(
            "No limits are set.", remedy='Name them: --set spec.constraints=\'["max-lines 20", "max-complexity 5"]\''
        )
    as_new = tuple(replace(region, created=True) for region in start.problem.regions)
    inputs = replace(start.trial.inputs, problem=replace(start.problem, regions=as_new))
    ruling = await limits.judge(replace(start.trial, inputs=inputs), Verdict(status=Status.PASSED))
    return () if all(each.passed for each in ruling.results) else ruling.results
