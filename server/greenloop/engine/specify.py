"""Completes the spec of a function from its docstring, before any candidate exists.

The user's own cases come first (`>>>` examples are already known), then tests that a plugin generates
(`core/generated_tests.py`). It must not know which tests are trusted where these disagree.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path

from greenloop.core.errors import CannotVerifyError
from greenloop.core.generated_tests import find_generator
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region, Spec, TargetKind
from greenloop.core.requirements import Trial
from greenloop.core.run_state import Baseline
from greenloop.engine.requirements import Requirements
from greenloop.localize.context import BaselineContext, build_baseline, fault_baseline, passing_baseline
from greenloop.project.sources import file_patterns
from greenloop_sandbox import case_results


async def specify(
    context: BaselineContext,
    baseline: Baseline,
    requirements: Requirements,
    parts: Sequence[str],
    report_spec: Callable[[Spec], None],
    first_answer: Callable[[Problem], Awaitable[Trial | None]],
) -> Baseline:
    """Returns the baseline with the complete spec, all of it run with the user's own code.

    `parts` may write tests; `report_spec` gets the frozen spec before any candidate, `first_answer` asks for the first
    one. Raises `CannotVerifyError` where nothing specifies what the function does.
    """
    if not baseline.problem.regions:
        return baseline
    # Requirements of the settings apply to every kind of target.
    spec = baseline.problem.spec
    baseline = await requirements.begin_configured(baseline)
    if context.target.kind is not TargetKind.FUNCTION:
        return baseline
    problem = baseline.problem
    if (generator := find_generator()) is not None:
        complete = await generator.complete(problem, parts, requirements.tools, context.report_status, first_answer)
        problem = replace(problem, spec=complete)
    if not any(case.executed for case in problem.spec.cases):
        name = problem.regions[0].qualname
        advice = ["Write a test that calls it, or a `>>>` example with its result in the docstring."]
        others = ["The preset `default` also lets a model write tests."]
        advice = [*problem.spec.doubts, *advice] if parts else [*advice, *others]
        raise CannotVerifyError(
            f"Nothing says what {name} should do: no test reaches it and its docstring has no examples.",
            remedy=" ".join(advice) + _rename_hint(problem.regions[0], problem.root),
        )
    if problem.spec == spec:
        return baseline
    if problem.spec.open:
        report_spec(problem.spec)
    return await requirements.with_shares(await _run_cases(context, baseline, problem))


def _rename_hint(region: Region, root: Path) -> str:
    """For a test in a file that pytest does not look into."""
    if not region.qualname.rpartition(".")[2].startswith("test"):
        return ""
    return f" If it is a test, rename {region.path}: pytest looks into {' and '.join(file_patterns(root))}."


async def _run_cases(context: BaselineContext, baseline: Baseline, problem: Problem) -> Baseline:
    """Runs all cases over the user's own code, which may already pass the new ones."""
    spec = problem.spec
    execution = await context.run(
        spec.selectors, spec.files, seconds=context.settings.suite.seconds or context.place.limits.seconds
    )
    results = case_results(execution)
    if fault := context.find_fault([result.failure for result in results if result.failure]):
        return fault_baseline(context, execution, fault.sentence, fault.remedy, spec)
    outcomes = {result.id: result.outcome for result in results}
    executed = [case for case in spec.cases if case.executed]
    passes = executed and all(outcomes.get(case.id) == "passed" for case in executed) and not execution.killed
    if passes and context.aim is None:
        return passing_baseline(context, spec, execution, outcomes)
    related_outcomes = {case: outcome for case, outcome in baseline.outcomes.items() if case in problem.neighbours}
    measured = build_baseline(
        context, spec, problem.regions, execution, related_outcomes, {}, unmeasured=baseline.unmeasured
    )
    kept = {*measured.problem.neighbours}
    return replace(
        measured,
        measurement=baseline.measurement,
        requirements=baseline.requirements,
        problem=replace(
            measured.problem,
            neighbours=tuple(case for case in problem.neighbours if case in kept),
            unaffected=tuple(case for case in problem.unaffected if case in kept),
            approaches=problem.approaches,
            suspicion=problem.suspicion,
            instruction=problem.instruction,
        ),
    )
