"""Baseline run before any model call: which target and related tests fail unchanged, why, and what they reach.

A test that fails because of the environment or is flaky is reported here, before any token is spent on it.
It must not know which model or preset the run will use.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from greenloop.core.errors import CannotVerifyError, UsageError
from greenloop.core.records.problem import Problem
from greenloop.core.records.sandbox import Execution
from greenloop.core.records.spec import Case, Provenance, Region, Spec, TargetKind
from greenloop.core.records.verdict import CaseResult, Frame, Status
from greenloop.core.report import (
    case_results,
    collect_errors,
    collected_cases,
    records_of_kind,
    whole_stack,
)
from greenloop.core.run_state import Baseline
from greenloop.localize import assignments, ranking, regions
from greenloop.localize.context import BaselineContext, build_baseline, fault_baseline, passing_baseline
from greenloop.localize.evidence import Entry, Evidence
from greenloop.localize.measuring import Measurement, is_cut_short
from greenloop.localize.recent_changes import find_touched
from greenloop.localize.related_tests import RelatedTestsRun, run_importing_tests, run_related_tests
from greenloop.localize.statement_run import trace_statements, with_suspicion
from greenloop.localize.stubs import add_stubs, find_missing
from greenloop.project.environment_faults import explain_start
from greenloop.project.sources import import_name_in_tests, is_trusted
from greenloop.project.targets import nearest_names, region_for
from greenloop.specs.kinds.doctest import examples
from greenloop.specs.kinds.examples import build_spec, region_statements
from greenloop.specs.kinds.pytest import read_spec

# A second missing name may hide behind the first; more than this many is a rewrite, not a repair.
MOST_MISSING = 4
OTHER_SEED = 4_242
REST = 0.4  # of the limit of one case, for the target's other cases after one that hangs
LEAST_REST = 3.0  # seconds for these at least
UNCLEAR = 5  # times the limit of one case, where it is not known what took the time
PYTEST_BROKE = 3  # pytest's exit status for an internal error


async def measure_baseline(context: BaselineContext) -> Baseline:
    """Measures the baseline of the target.

    Raises `UsageError` for a target that does not exist and `CannotVerifyError` where nothing can be verified.
    """
    if context.target.kind is TargetKind.TEST:
        return await _baseline_of_test(context)
    return await _baseline_of_function(context)


# -- a failing test ---------------------------------------------------------------------------------------------


async def _baseline_of_test(context: BaselineContext) -> Baseline:
    context.report_status("running the test on the unchanged code")
    stubs, created, execution = await _run_with_stubs(context)
    if not collected_cases(execution):
        return await _explain_uncollected(context, execution, stubs)
    spec = read_spec(execution, context.target)
    measurement = await _measure_rest(context, execution, stubs)
    results = measurement.results
    if ended := await _stop_early(context, spec, execution, stubs, results):
        return ended
    every = {result.id: result for result in case_results(execution)} | results
    failing = {case: result for case, result in every.items() if not result.passed}
    targets = {case.id for case in spec.cases}
    related = await run_related_tests(context, measurement, targets, failing, created)
    evidence = await _gather_evidence(context, spec, related, failing, stubs, created)
    regions_to_change: tuple[Region, ...] = created
    suspects: tuple[Region, ...] = ()
    if not created:
        regions_to_change, suspects = _choose_regions(context, evidence, failing, related.modules)
    if not regions_to_change:
        raise CannotVerifyError(
            f"{context.target.selector} reaches no function in this workspace that may be changed.",
            remedy="Put the cursor on the function to change, or write `greenloop fix file.py::function`.",
        )
    baseline = build_baseline(
        context,
        spec,
        tuple(regions_to_change),
        execution,
        related.outcomes,
        stubs,
        unmeasured=related.unmeasured,
        reach=related.reached,
        measured=results,
        suspects=suspects,
    )
    problem = with_suspicion(baseline.problem, evidence.statements, evidence.failing, evidence.passing)
    return replace(baseline, problem=problem, measurement=related.measurement)


async def _run_with_stubs(context: BaselineContext) -> tuple[dict[str, str], tuple[Region, ...], Execution]:
    """Runs the target; stubs each workspace name that does not exist yet (test first) and runs it again."""
    stubs: dict[str, str] = {}
    created: tuple[Region, ...] = ()
    for _ in range(MOST_MISSING):
        execution = await _run_target(context, stubs)
        failures = [result.failure for result in case_results(execution) if result.failure]
        failures += [error.failure for error in collect_errors(execution)]

        def text_of(path: str, stub_texts: Mapping[str, str] = dict(stubs)) -> str | None:
            return stub_texts[path] if path in stub_texts else context.snapshot.text(path)

        missing = find_missing(failures, text_of, context.snapshot.root, context.target.path, patterns=context.patterns)
        if missing is None:
            break
        files, new_regions = add_stubs(missing, text_of)
        if not new_regions:
            break
        stubs.update(files)
        created = (*(regions.relocate(region, stubs[region.path]) for region in created), *new_regions)
    return stubs, created, execution


async def _run_target(context: BaselineContext, stubs: Mapping[str, str]) -> Execution:
    """Runs the target unchanged. A slow one gets more time, unless the code under test is what hangs.

    Where nothing says what the time was spent on (a loaded machine is slow to start), a longer limit comes first: code
    that hangs would use up the longest one.
    """
    limit, longest = context.place.limits.seconds, context.settings.sandbox.longest
    execution = await context.run([context.target.selector], stubs, trace=True)
    for seconds in (min(UNCLEAR * limit, longest), longest):
        stack = whole_stack(execution)
        if execution.killed != "timeout" or longest <= limit or _is_changeable(stack, context):
            break
        if stack and seconds < longest:
            continue
        context.report_status(f"it took longer than {limit:g} s; running it once more with {seconds:g} s")
        execution, limit = await context.run([context.target.selector], stubs, trace=True, seconds=seconds), seconds
    return execution


def _is_changeable(stack: Sequence[Frame], context: BaselineContext) -> bool:
    """Is the innermost frame one of the code under test?"""
    path = stack[-1].path if stack else "<"
    return not path.startswith(("/", "<")) and not is_trusted(path, context.patterns)


async def _measure_rest(context: BaselineContext, execution: Execution, stubs: Mapping[str, str]) -> Measurement:
    """Returns the results of the target's cases; those behind one that hangs or ends the process are run now."""
    measurement = Measurement(context=context, stubs=stubs)
    limit = context.place.limits.seconds
    measurement.take_in(execution, limit)
    if measurement.unknown and not any(records_of_kind(execution, "finished")):
        context.report_status("running the tests behind the one that did not end")
        await measurement.go_on(max(LEAST_REST, REST * limit) if measurement.hangs else 2 * limit)
    return measurement


async def _explain_uncollected(context: BaselineContext, execution: Execution, stubs: Mapping[str, str]) -> Baseline:
    if ended := _environment_fault(context, execution):
        return ended
    errors = collect_errors(execution)
    if errors:
        first = errors[0].failure
        location = next((f" ({frame.path}:{frame.line})" for frame in reversed(first.frames)), "")
        raise CannotVerifyError(
            f"{context.target.path} cannot be collected by pytest: {first.type}: {first.message}{location}",
            remedy="Fix that first: pytest has to be able to collect the test.",
        )
    if execution.status == PYTEST_BROKE or not any(records_of_kind(execution, "finished")):
        rows = [row for row in execution.output.strip().splitlines() if row.strip(" INTERALO>")]
        raise CannotVerifyError(
            f"pytest stopped before it collected any test: {rows[-1].strip() if rows else 'no output'}",
            remedy=f"See whether `{context.place.environment.executable} -m pytest {context.target.path}` works.",
        )
    nearby = nearest_names(context.target.selector, await _ids_of_file(context, stubs))
    hint = f"Did you mean: {', '.join(nearby)}" if nearby else f"pytest finds no test in {context.target.path}."
    raise UsageError(f"There is no test {context.target.selector}.", remedy=hint)


def _environment_fault(context: BaselineContext, execution: Execution) -> Baseline | None:
    """Returns the baseline of a run in which the environment prevented collection, else None."""
    failures = [error.failure for error in collect_errors(execution)]
    fault = context.find_fault(failures) if failures else explain_start(execution, context.place.environment)
    return fault_baseline(context, execution, fault.sentence, fault.remedy) if fault else None


async def _ids_of_file(context: BaselineContext, stubs: Mapping[str, str]) -> list[str]:
    execution = await context.run([context.target.path], stubs, collect=True)
    return [item.id for item in collected_cases(execution)]


async def _stop_early(
    context: BaselineContext,
    spec: Spec,
    execution: Execution,
    stubs: Mapping[str, str],
    measured: Mapping[str, CaseResult] | None = None,
) -> Baseline | None:
    """Ends the run without a model call if the target passes, is skipped or flaky, or the environment is at fault.

    `measured` are results of cases that the execution did not get to.
    """
    results = {result.id: result for result in case_results(execution)} | dict(measured or {})
    expected = [case.id for case in spec.cases]
    outcomes = {case: result.outcome for case, result in results.items()}
    if all(outcomes.get(case) == "passed" for case in expected) and (measured or not execution.killed):
        return passing_baseline(context, spec, execution, outcomes, measured)
    if not any(outcomes.get(case, "missing") not in {"passed", "skipped", "xfailed"} for case in expected):
        raise CannotVerifyError(
            f"{context.target.selector} is skipped or expected to fail, so nothing says when it is right.",
            remedy="Remove the mark first.",
        )
    failures = [result.failure for result in results.values() if result.failure and not result.passed]
    if fault := context.find_fault(failures):
        return fault_baseline(context, execution, fault.sentence, fault.remedy, spec)
    if execution.killed:  # a second run would be cut too, and tell nothing about chance
        return None
    context.report_status("running it once more")
    seconds = context.later_limits(execution).seconds
    repeat = await context.run(spec.selectors, stubs, hash_seed=OTHER_SEED, seconds=seconds)
    second = {result.id: result.outcome for result in case_results(repeat)}
    flaky = [case for case in expected if outcomes.get(case) != second.get(case)]
    if flaky and not repeat.killed:
        return fault_baseline(
            context,
            execution,
            f"{flaky[0]} is flaky: on the same code it {outcomes.get(flaky[0])}, then {second.get(flaky[0])}.",
            "Make the test repeatable (fixed seeds, no dependence on time, order or hashing) first.",
            spec,
        )
    return None


def _choose_regions(
    context: BaselineContext, evidence: Evidence, failing: Mapping[str, CaseResult], modules: Sequence[str]
) -> tuple[tuple[Region, ...], tuple[Region, ...]]:
    """Returns the regions to change, and the other suspects of these modules: functions, and assignments they read.

    A test that reaches no function may still read an assignment.
    """
    text_of, failures = context.snapshot.text, [result.failure for result in failing.values()]
    suspicions = ranking.suspicions(evidence)
    ranked = ranking.sort_by(evidence, suspicions)
    chosen = regions.choose(ranked, text_of, failures, most=context.settings.regions)
    found = assignments.find_read(evidence, ranked, suspicions, context.snapshot.root)
    read = {each: score for each, score in found.items() if each.path in modules}
    others = assignments.insert(regions.others(ranked, chosen, text_of, modules), read, suspicions)
    return (chosen, tuple(others)) if chosen else (tuple(others[:1]), tuple(others[1:]))


async def _gather_evidence(
    context: BaselineContext,
    spec: Spec,
    related: RelatedTestsRun,
    failing: Mapping[str, CaseResult],
    stubs: Mapping[str, str],
    created: Sequence[Region],
) -> Evidence:
    """Runs the failing cases and their most similar passing neighbours once more, by statement."""
    passing = [case for case, outcome in related.outcomes.items() if outcome == "passed"]
    failures = {case: result.failure for case, result in failing.items()}
    evidence = context.gather_evidence(related.reach, failures, passing)
    snapshot = context.snapshot
    texts = {each.path: snapshot.text(each.path) or "" for each in evidence.suspects}
    touched = await asyncio.to_thread(find_touched, snapshot.root, texts, evidence.suspects)
    evidence = replace(evidence, touched=touched)
    first = [*created] or ranking.rank(evidence)[:1]
    if all(each.created or regions.is_unwritten(each, context.snapshot.text) for each in first):
        return evidence  # what does not exist yet is at fault
    context.report_status("looking for the fault")
    seconds = sum(result.seconds for result in failing.values())
    hangs = any(is_cut_short(result) for result in failing.values())
    traces = await trace_statements(context, evidence, stubs, spec.selectors, seconds=seconds, hangs=hangs)
    return replace(evidence, statements=traces)


# -- a function or its docstring --------------------------------------------------------------------------------


async def _baseline_of_function(context: BaselineContext) -> Baseline:
    text = context.snapshot.text(context.target.path) or ""
    region = region_for(context.target, text)
    if clash := region_statements(region, text).contradiction:
        raise CannotVerifyError(clash, remedy="Only one of the two can hold; correct the docstring first.")
    documented = examples(context.target, text) + build_spec(
        region, text, import_name_in_tests(region.path, context.snapshot.root)
    )
    context.report_status("running its examples and the tests that reach it")
    measurement = Measurement(context=context)
    related = await run_importing_tests(context, [], {context.target.path: None}, measurement)
    reaching = [case for case, hits in related.reach.items() if any(hit.is_in(region) for hit in hits)]
    reaching += [case for case in _ended_inside(measurement, region) if case not in reaching]
    examples_run = measurement.again(documented.files)
    execution, tests = await _run_examples(context, documented, reaching, examples_run)
    spec = documented + Spec(cases=tests, selectors=tuple(case.id for case in tests))
    if not spec.cases:
        if related.execution is not None and (ended := _environment_fault(context, related.execution)):
            return ended
        # Tests generated from the docstring, or required by settings, are added later.
        return build_baseline(
            context,
            spec,
            (region,),
            execution,
            related.outcomes,
            {},
            unmeasured=related.unmeasured,
            reach=related.reached,
        )
    if not collected_cases(execution) and (ended := _environment_fault(context, execution)):
        return ended
    if ended := await _stop_early(context, spec, execution, spec.files, examples_run.results):
        return ended
    baseline = build_baseline(
        context,
        spec,
        (region,),
        execution,
        related.outcomes,
        {},
        unmeasured=related.unmeasured,
        reach=related.reached,
        measured=examples_run.results,
    )
    baseline = replace(baseline, measurement=related.measurement)
    return replace(baseline, problem=await _suspect_lines(context, baseline, region, related))


async def _suspect_lines(
    context: BaselineContext, baseline: Baseline, region: Region, related: RelatedTestsRun
) -> Problem:
    """Returns the problem with the suspicion of the function's lines."""
    problem, verdict = baseline.problem, baseline.attempt.verdict
    if regions.is_unwritten(region, problem.files.get):
        return problem
    failing = {case.id: case.failure for case in verdict.cases if not case.passed}
    passing = [case for case, outcome in baseline.outcomes.items() if outcome == "passed" and case not in failing]
    evidence = context.gather_evidence(related.reach, failing, passing)
    evidence = replace(evidence, suspects={region: Entry(depth=1, order=0)})
    traces = await trace_statements(
        context,
        evidence,
        problem.spec.files,
        problem.spec.selectors,
        seconds=verdict.seconds,
        hangs=verdict.status is Status.TIMEOUT,
    )
    return with_suspicion(problem, traces, failing, passing)


async def _run_examples(
    context: BaselineContext, documented: Spec, reaching: Sequence[str], measurement: Measurement
) -> tuple[Execution, tuple[Case, ...]]:
    """Runs the examples and every test that reaches the function; failing tests become part of the specification.

    `measurement` goes on behind those that hang.
    """
    selectors = [*documented.selectors, *reaching]
    if not selectors:
        return Execution(), ()
    seconds = context.settings.suite.seconds or context.place.limits.seconds
    execution = await measurement.run(selectors, seconds=seconds)
    outcomes = measurement.outcomes
    failing = [
        Case(id=item.id, path=item.path, line=item.line, provenance=Provenance.USER)
        for item in collected_cases(execution)
        if item.id in reaching and (outcomes.get(item.id) != "passed" or not documented.cases)
    ]
    return execution, tuple(failing)


def _ended_inside(measurement: Measurement, region: Region) -> list[str]:
    """The cases that did not end because of the function: they hang or crash in it, or below."""
    ended = {case: result.failure for case, result in measurement.results.items() if is_cut_short(result)}
    frames = {case: failure.frames for case, failure in ended.items() if failure is not None}
    return [case for case in frames if any(_is_line_of(frame, region) for frame in frames[case])]


def _is_line_of(frame: Frame, region: Region) -> bool:
    return frame.path == region.path and region.start <= frame.line <= region.end
