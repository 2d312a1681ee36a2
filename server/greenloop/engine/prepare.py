"""Prepares a run before its loop: completes the specification, begins requirements, opens the drafter, adds context."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from greenloop.core.budget import BudgetExceededError
from greenloop.core.compose import compose
from greenloop.core.errors import CannotVerifyError
from greenloop.core.events import Event, Specified
from greenloop.core.generated_tests import find_generator
from greenloop.core.ports import Model
from greenloop.core.records.model import Role
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region, TargetKind
from greenloop.core.requirements import Trial
from greenloop.core.run_state import Baseline
from greenloop.drafting.candidates.checks.gate import check
from greenloop.engine.loop.candidate_runs import read_answer
from greenloop.engine.requirements import Requirements
from greenloop.engine.run_parts import FIRST_DRAFT, RunParts
from greenloop.localize.context import BaselineContext, build_baseline, fault_baseline, passing_baseline
from greenloop.project.sources import file_patterns
from greenloop_sandbox import case_results

ROOM = 6000  # tokens of a prompt that has room for several suspects and the outline of their files


async def prepare(parts: RunParts, emit: Callable[[Event], None]) -> Model | None:
    """Completes the run's baseline; returns the model that drafts, or None where none is needed."""
    context, state = parts.context, parts.state
    requirements = Requirements(
        inputs=lambda: parts.verifier.inputs,
        tools=parts.tools,
        deadline=state.deadline,
        report_status=context.report_status,
    )
    if not parts.baseline.has_result:
        parts.begin_from(await _specify(parts, requirements, emit))
    if (aim := context.aim) is not None and not parts.baseline.has_result:
        parts.begin_from(await requirements.begin(aim.requirement, parts.baseline, aim.options))
    if parts.baseline.has_result:
        return None
    drafter = await parts.calls.drafter()
    if parts.conversation_after(state.attempts) is not None:
        exact = replace(parts.baseline.problem, exact=context.settings.regions == 1)
        parts.begin_from(replace(parts.baseline, problem=exact))
        return drafter
    problem = _with_scope(parts, parts.baseline.problem)
    await parts.calls.models.model_for(Role.REFINER)
    await parts.calls.gather_context(problem.opened(()), parts.tools)
    described = await parts.feedback.describe_baseline(problem, parts.baseline.attempt)
    parts.begin_from(replace(parts.baseline, problem=problem, attempt=described))
    return drafter


async def _specify(parts: RunParts, requirements: Requirements, emit: Callable[[Event], None]) -> Baseline:
    """Returns the baseline with the complete spec, all of it run with the user's own code.

    The user's own cases come first (`>>>` examples are already known), then tests that a plugin generates, by the
    preset's `specs` (`core/generated_tests.py`). Raises `CannotVerifyError` where nothing says what the function does.
    """
    context, specs = parts.context, parts.preset.specs
    if not parts.baseline.problem.regions:
        return parts.baseline
    # Requirements of the settings apply to every kind of target.
    baseline = await requirements.begin_configured(parts.baseline)
    if context.target.kind is not TargetKind.FUNCTION:
        return baseline
    problem = baseline.problem
    if (generator := find_generator()) is not None:
        ask = partial(_first_answer, parts)
        complete = await generator.complete(problem, specs, parts.tools, context.report_status, ask)
        problem = replace(problem, spec=complete)
    if not any(case.executed for case in problem.spec.cases):
        name = problem.regions[0].qualname
        advice = ["Write a test that calls it, or a `>>>` example with its result in the docstring."]
        others = ["The preset `default` also lets a model write tests."]
        advice = [*problem.spec.doubts, *advice] if specs else [*advice, *others]
        raise CannotVerifyError(
            f"Nothing says what {name} should do: no test reaches it and its docstring has no examples.",
            remedy=" ".join(advice) + _rename_hint(problem.regions[0], problem.root),
        )
    if problem.spec == parts.baseline.problem.spec:
        return baseline
    if problem.spec.open:
        emit(Specified(spec=problem.spec))  # frozen, before any candidate
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


def _with_scope(parts: RunParts, problem: Problem) -> Problem:
    """The problem with the places that a prompt may show, by the settings and by the model's room."""
    settings, has_room = parts.context.settings, parts.calls.prompt_tokens >= ROOM
    places = settings.prompt.places or (parts.preset.places if has_room else 0)
    return replace(problem, exact=settings.regions == 1, places=places)


async def _first_answer(parts: RunParts, problem: Problem) -> Trial | None:
    """The drafter's first answer, which becomes the first attempt of the loop; None where it cannot run."""
    await parts.calls.drafter()
    problem = _with_scope(parts, problem)
    await parts.calls.gather_context(problem.opened(()), parts.tools)
    try:
        reply = await parts.calls.ask_early(replace(parts.first_request(problem), seed=1))
    except BudgetExceededError:
        return None
    attempt = read_answer(problem, 1, FIRST_DRAFT, parts.state.attempts, reply).attempt
    texts = compose(problem, attempt.candidate) if attempt.candidate else {}
    if attempt.candidate is None or check(problem, attempt.candidate, texts, parent=None):
        return None
    return Trial(inputs=replace(parts.verifier.inputs, problem=problem), files=texts)
