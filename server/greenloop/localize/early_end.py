"""Ends a request before any model call: nothing fails, chance decides, or the environment is at fault.

It must not know which functions may change.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Any

from greenloop.core.errors import CannotVerifyError
from greenloop.core.records.spec import Spec, TargetKind
from greenloop.core.run_state import Baseline
from greenloop.localize.context import BaselineContext, fault_baseline, passing_baseline
from greenloop.localize.measuring import is_cut_short
from greenloop.project.environment.faults import explain_start
from greenloop_sandbox import CaseResult, Execution, case_results, collected_cases
from greenloop_sandbox.report.cases import collect_errors, describe_end

OTHER_SEED = 4_242
FILE_SECONDS = 3.0  # for the whole file of a target, at most


def environment_fault(context: BaselineContext, execution: Execution) -> Baseline | None:
    """Returns the baseline of a run in which the environment prevented collection, else None."""
    failures = [error.failure for error in collect_errors(execution)]
    fault = context.find_fault(failures) if failures else explain_start(execution, context.place.environment)
    return fault_baseline(context, execution, fault.sentence, fault.remedy) if fault else None


def stop_early(
    context: BaselineContext,
    spec: Spec,
    execution: Execution,
    measured: Mapping[str, CaseResult] | None = None,
) -> Baseline | None:
    """Ends the run without a model call if the target passes or is skipped, or the environment is at fault.

    `measured` are results of cases that the execution did not get to.
    """
    results = {result.id: result for result in case_results(execution)} | dict(measured or {})
    expected = [case.id for case in spec.cases]
    outcomes = {case: result.outcome for case, result in results.items()}
    if all(outcomes.get(case) == "passed" for case in expected) and (measured or not execution.killed):
        return None if context.aim else passing_baseline(context, spec, execution, outcomes, measured)
    if context.aim is not None:
        failing = next((case for case in expected if outcomes.get(case) != "passed"), expected[0])
        require_collected(execution)
        end = _describe_cut(execution, results.get(failing))
        if end:
            raise CannotVerifyError(
                f"{failing} was cut off: {end}.",
                remedy="Give it more: --set sandbox.seconds=60, or suite.seconds=300 where all its tests take long.",
            )
        raise CannotVerifyError(
            f"{failing} does not pass; only code that passes its tests can be improved.",
            remedy=f"Fix it first: greenloop fix {failing}",
        )
    if not any(outcomes.get(case, "missing") not in {"passed", "skipped", "xfailed"} for case in expected):
        raise CannotVerifyError(
            f"{context.target.selector} is skipped or expected to fail, so nothing says when it is right.",
            remedy="Remove the mark first.",
        )
    failures = [result.failure for result in results.values() if result.failure and not result.passed]
    if fault := context.find_fault(failures):
        return fault_baseline(context, execution, fault.sentence, fault.remedy, spec)
    return None


def require_collected(execution: Execution) -> None:
    """Raises `CannotVerifyError` for the first file that pytest could not collect."""
    for error in collect_errors(execution):
        reason = error.failure.message.split("\n")[0].rstrip(".")
        raise CannotVerifyError(
            f"pytest cannot collect {error.id}: {error.failure.type}: {reason}.",
            remedy="Correct that first; only code that passes its tests can be improved.",
        )


def _describe_cut(execution: Execution, result: CaseResult | None) -> str:
    """Returns how a case that did not run to its end was ended; empty for one that did."""
    if result is None or is_cut_short(result):
        failure = result.failure if result else None
        end = failure.message if failure else describe_end(execution)
        # How long this run took says little: it may have had what an earlier one left of the time.
        return end.partition(" (after ")[0].rstrip(".") or "it did not run to its end"
    return describe_end(execution) if execution.killed else ""


async def find_flaky(
    context: BaselineContext,
    spec: Spec,
    execution: Execution,
    stubs: Mapping[str, str],
    measured: Mapping[str, CaseResult],
    unstable: set[str],
) -> Baseline | None:
    """Runs the target once more, with another hash seed; ends the run where another case fails or passes.

    `measured` as in `stop_early`. Cases that the second run does not have, because their ids hold the time of the run
    or the like, are added to `unstable`; the run ends if all of them are.
    """
    if execution.killed:  # a second run would be cut too, and tell nothing about chance
        return None
    results = {result.id: result for result in case_results(execution)} | dict(measured)
    outcomes = {case: result.outcome for case, result in results.items()}
    seconds = context.later_limits(execution).seconds
    is_part = context.target.kind is TargetKind.TEST and "::" in context.target.selector
    for selectors, limit in (([context.target.path], FILE_SECONDS), (spec.selectors, seconds))[not is_part :]:
        repeat = await context.run(selectors, stubs, hash_seed=OTHER_SEED, seconds=min(limit, seconds))
        if not repeat.killed:
            break
    else:
        return None
    collected = {case.id for case in collected_cases(repeat)}
    second = {result.id: result.outcome for result in case_results(repeat)}
    unstable.update(case.id for case in spec.cases if collected and case.id not in collected)
    if unstable and all(case.id in unstable for case in spec.cases):
        return fault_baseline(
            context,
            execution,
            f"{spec.cases[0].id} has another id in every run of the same code, so no run can be compared with it.",
            "Give the parameters explicit ids (`pytest.param(…, id=…)`), without time, addresses or random values.",
            spec,
        )
    flaky = [case.id for case in spec.cases if case.id not in unstable and outcomes.get(case.id) != second.get(case.id)]
    if not flaky:
        return None
    if flaky and collected > {case.id for case in spec.cases} and second.get(flaky[0]) == "passed":
        sentence = f"{flaky[0]} fails alone and passes with the others of its file: it depends on them, or on chance."
        return fault_baseline(context, execution, sentence, "Let it prepare all that it needs.", spec)
    return fault_baseline(
        context,
        execution,
        f"{flaky[0]} is flaky: on the same code it {outcomes.get(flaky[0])}, then {second.get(flaky[0])}.",
        "Make the test repeatable (fixed seeds, no dependence on time, order or hashing) first.",
        spec,
    )


async def unless(check: Coroutine[Any, Any, Baseline | None], work: Coroutine[Any, Any, Baseline]) -> Baseline:
    """Does both at once; returns what the check has found, as soon as it has, else the result of the work."""
    # The work first: what it does before it waits is what the first attempt waits for.
    working, checking = asyncio.create_task(work), asyncio.create_task(check)
    try:
        if ended := await checking:
            return ended
        return await working
    finally:
        for task in (checking, working):
            task.cancel()
        await asyncio.gather(checking, working, return_exceptions=True)
