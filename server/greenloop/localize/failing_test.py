"""The baseline of a failing test: why it fails, and which functions may be at fault.

It must not know which model or preset the run will use.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from greenloop.core.errors import CannotVerifyError, UsageError
from greenloop.core.reach import Reach
from greenloop.core.records.findings import Findings
from greenloop.core.records.spec import Region, Spec
from greenloop.core.run_state import Baseline
from greenloop.localize import assignments, ranking, regions
from greenloop.localize.context import BaselineContext, build_baseline, without_cases
from greenloop.localize.early_end import environment_fault, find_flaky, stop_early, unless
from greenloop.localize.evidence import CoverageEvidence, gather_evidence
from greenloop.localize.findings import gather_findings, with_siblings
from greenloop.localize.measuring import Measurement, is_cut_short
from greenloop.localize.missing import unwritten
from greenloop.localize.missing.missing_names import find_missing
from greenloop.localize.missing.stubs import add_stubs
from greenloop.localize.reasons import find_reasons
from greenloop.localize.recent_changes import find_ages, find_touched
from greenloop.localize.related_tests import RelatedTestsRun, run_related_tests
from greenloop.localize.statement_run import trace_statements, with_suspicion
from greenloop.localize.unreached import importable
from greenloop.localize.unreached.named_by_failure import find_called_by
from greenloop.localize.unreached.uncollected import refuse_uncollected
from greenloop.project.sources import is_trusted
from greenloop.project.targets import nearest_names
from greenloop.specs.kinds.pytest import read_spec
from greenloop_sandbox import CaseResult, Execution, Failure, Frame, case_results, collected_cases
from greenloop_sandbox.report.cases import collect_errors, records_of_kind, whole_stack

# Runs of the target: one for each missing module or class, as a second one is seen only behind the first.
MOST_MISSING = 10
FILE_SECONDS = 1.5  # that a first question waits for the other tests of the target's file
AGE_SECONDS = 0.5  # that it waits for the ages of lines
READ = "read by a function that ran, or by the test"  # why an assignment is shown
LONGEST_LINE = 200  # characters of a message that is told
REST = 0.4  # of the limit of one case, for the target's other cases after one that hangs
LEAST_REST = 3.0  # seconds for these at least
UNCLEAR = 5  # times the limit of one case, where it is not known what took the time


async def measure(context: BaselineContext) -> Baseline:
    """Measures the baseline of a failing test; what it raises: `baseline.measure_baseline`."""
    context.report_status("running the test on the unchanged code")
    stubs, created, execution = await _run_with_stubs(context)
    if not collected_cases(execution):
        completed = None if created else await importable.measure_completed(context, execution, measure)
        return completed or await _explain_uncollected(context, execution, stubs)
    spec = read_spec(execution, context.target)
    measurement = await _measure_rest(context, execution, stubs)
    results = dict(measurement.results)
    if ended := stop_early(context, spec, execution, results):
        return ended
    unstable: set[str] = set()
    baseline = await unless(
        find_flaky(context, spec, execution, stubs, results, unstable),
        _locate(context, spec, execution, stubs, created, measurement),
    )
    return without_cases(baseline, unstable)


async def _locate(
    context: BaselineContext,
    spec: Spec,
    execution: Execution,
    stubs: Mapping[str, str],
    created: tuple[Region, ...],
    measurement: Measurement,
) -> Baseline:
    """Runs the related tests, and chooses the functions that may be at fault."""
    results = dict(measurement.results)
    every = {result.id: result for result in case_results(execution)} | results
    failing = {case: result for case, result in every.items() if not result.passed}
    targets = {case.id for case in spec.cases}
    if context.when_failing is not None and not created:
        _tell_early(context, context.when_failing, spec, execution, failing, stubs, measurement)
    if context.when_located is not None:
        await _tell_located(context, context.when_located, spec, execution, stubs, created, measurement)
    related = await run_related_tests(context, measurement, targets, failing, created)
    evidence = await _gather_evidence(context, spec, related, failing, stubs, created)
    if created:
        regions_to_change, suspects = created, _find_beside(context, related, failing, stubs, created)
    else:
        regions_to_change, suspects = _choose_regions(context, evidence, failing, related.modules)
    failures = [result.failure for result in failing.values()]
    regions_to_change = regions_to_change or context.fallback or context.used_by_test(failures)
    if not regions_to_change and context.when_located is None:  # a capable model may change any file
        reason = next((f" It fails with {_first_line(each)}." for each in failures if each), "")
        raise CannotVerifyError(
            f"{context.target.selector} reaches no function in this workspace that may be changed.{reason}",
            remedy="Put the cursor on the function to change, or write `greenloop fix file.py::function`.",
        )
    suspects += context.plain_classes(failures, (*regions_to_change, *suspects))
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
    baseline = replace(baseline, problem=problem, measurement=related.measurement, reasons=find_reasons(evidence))
    return with_siblings(baseline, context)


def _first_line(failure: Failure) -> str:
    line = failure.message.strip().partition("\n")[0].rstrip(".")
    return f"{failure.type}: {line[:LONGEST_LINE]}" if line else failure.type


def _tell_early(
    context: BaselineContext,
    tell: Callable[[Baseline], None],
    spec: Spec,
    execution: Execution,
    failing: Mapping[str, CaseResult],
    stubs: Mapping[str, str],
    measurement: Measurement,
) -> None:
    """Passes on a baseline with the functions that the failing cases reached; none where they reach nothing.

    Assignments come later: to see which are read takes longer than to try the first changes.
    """
    failures = {case: result.failure for case, result in failing.items()}
    evidence = context.gather_evidence(measurement.reach.functions, failures, ())
    ranked = ranking.sort_by(evidence, ranking.suspicions(evidence))
    chosen, _unwritten_others = _choose_functions(context, ranked, failing)
    if chosen:
        others = regions.others(ranked, chosen, context.snapshot.text, [region.path for region in evidence.suspects])
        tell(build_baseline(context, spec, chosen, execution, {}, stubs, measured=measurement.results, suspects=others))


async def _tell_located(
    context: BaselineContext,
    tell: Callable[[Findings], None],
    spec: Spec,
    execution: Execution,
    stubs: Mapping[str, str],
    created: tuple[Region, ...],
    measurement: Measurement,
) -> None:
    """Passes on what a report needs: the other tests of the file have run by then, or their time is over."""
    own = {case.id for case in spec.cases}
    others = await context.run(
        [context.target.path], stubs, trace=True, seconds=FILE_SECONDS, case_seconds=FILE_SECONDS / 2, baseline=False
    )
    known = {**{result.id: result for result in case_results(others)}, **measurement.results}
    results = {**known, **{result.id: result for result in case_results(execution) if result.id in own}}
    cases = [results[case.id] for case in spec.cases if case.id in results]
    failing = {case.id: case.failure for case in cases if not case.passed}
    passing = [case for case, result in results.items() if result.passed]
    reach = Reach()
    for each in (others, execution):
        reach.add(each)
    evidence = context.gather_evidence({**reach.functions, **measurement.reach.functions}, failing, passing)
    texts = {each.path: context.snapshot.text(each.path) or "" for each in evidence.suspects}
    touched, ages = await asyncio.gather(
        asyncio.to_thread(find_touched, context.snapshot.root, texts, evidence.suspects),
        asyncio.to_thread(find_ages, context.snapshot.root, texts, evidence.suspects, seconds=AGE_SECONDS),
    )
    evidence = replace(evidence, touched=touched, ages=ages)
    suspicions = ranking.suspicions(evidence)
    ranked = ranking.sort_by(evidence, suspicions)
    read = await asyncio.to_thread(assignments.find_read, evidence, ranked, suspicions, context.snapshot.root)
    chosen, _others = (created, ()) if created else _choose_functions(context, ranked, results)
    suspects = regions.others(ranked, chosen, context.snapshot.text, [region.path for region in evidence.suspects])
    early = build_baseline(context, spec, chosen, execution, {}, stubs, measured=results, suspects=suspects)
    findings = await gather_findings(
        context,
        early.problem,
        cases,
        results,
        reasons=find_reasons(evidence),
        related=dict.fromkeys(read, READ),
    )
    tell(findings)


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
        moved = (regions.relocate(each, stubs[each.path], text_of(each.path)) for each in created)
        created = (*moved, *new_regions)
    return stubs, created, execution


async def _run_target(context: BaselineContext, stubs: Mapping[str, str]) -> Execution:
    """Runs the target unchanged. A slow one gets more time, unless the code under test is what hangs.

    Where nothing says what the time was spent on (a loaded machine is slow to start), a longer limit comes first: code
    that hangs would use up the longest one.
    """
    limit, longest = context.place.limits.seconds, min(context.settings.sandbox.longest, context.deadline.left)
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
    if ended := environment_fault(context, execution):
        return ended
    refuse_uncollected(context, execution)
    nearby = nearest_names(context.target.selector, await _ids_of_file(context, stubs))
    hint = f"Did you mean: {', '.join(nearby)}" if nearby else f"pytest finds no test in {context.target.path}."
    raise UsageError(f"There is no test {context.target.selector}.", remedy=hint)


async def _ids_of_file(context: BaselineContext, stubs: Mapping[str, str]) -> list[str]:
    execution = await context.run([context.target.path], stubs, collect=True)
    return [item.id for item in collected_cases(execution)]


def _choose_regions(
    context: BaselineContext, evidence: CoverageEvidence, failing: Mapping[str, CaseResult], modules: Sequence[str]
) -> tuple[tuple[Region, ...], tuple[Region, ...]]:
    """Returns the regions to change, and the other suspects of these modules: functions, and assignments they read.

    A test that reaches no function may still read an assignment.
    """
    suspicions = ranking.suspicions(evidence)
    ranked = ranking.sort_by(evidence, suspicions)
    chosen, unwritten_others = _choose_functions(context, ranked, failing)
    found = assignments.find_read(evidence, ranked, suspicions, context.snapshot.root)
    read = {each: score for each, score in found.items() if each.path in modules}
    functions = regions.others(ranked, chosen, context.snapshot.text, modules)
    others = assignments.insert(functions, read, suspicions)
    return (chosen, (*unwritten_others, *others)) if chosen else (tuple(others[:1]), tuple(others[1:]))


def _find_beside(
    context: BaselineContext,
    related: RelatedTestsRun,
    failing: Mapping[str, CaseResult],
    stubs: Mapping[str, str],
    created: Sequence[Region],
) -> tuple[Region, ...]:
    """Returns the suspects of the cases that fail for another reason than what does not exist yet.

    After them come functions that the other cases call: those behind what does not exist have not run yet.
    """

    def text_of(path: str) -> str | None:
        return stubs[path] if path in stubs else context.snapshot.text(path)

    failures = {case: result.failure for case, result in failing.items() if not _lacks(result.failure, created)}
    evidence = gather_evidence(related.reach, failures, (), text_of, patterns=context.patterns)
    found = regions.others(ranking.rank(evidence), created, text_of, [region.path for region in evidence.suspects])
    uses = context.failing_text([result.failure for result in failing.values()])
    paths = dict.fromkeys(region.path for region in created)
    called = (each for path in paths for each in find_called_by(uses, text_of(path) or "", path))
    return (*found, *(each for each in called if not any(each.overlaps(other) for other in (*found, *created))))


def _lacks(failure: Failure | None, created: Sequence[Region]) -> bool:
    """Whether a failure comes from the stub of something that does not exist yet."""
    frames = failure.frames if failure else ()
    places = {(frame.path, frame.line) for frame in frames}
    return failure is None or any(
        path == region.path and region.start <= line <= region.end for path, line in places for region in created
    )


def _choose_functions(
    context: BaselineContext, ranked: Sequence[Region], failing: Mapping[str, CaseResult]
) -> tuple[tuple[Region, ...], tuple[Region, ...]]:
    """Returns the functions to change, and other unwritten ones around them.

    They are the first of the ranking, or those that are unwritten and belong together.
    """
    text_of, failures = context.snapshot.text, [result.failure for result in failing.values()]
    unwritten_others: tuple[Region, ...] = ()
    chosen = regions.choose(ranked, text_of, failures, most=context.settings.regions)
    if chosen and regions.is_unwritten(chosen[0], text_of):
        test = context.target.path
        texts = unwritten.modules_around(chosen[0].path, test, context.snapshot, context.patterns)
        chosen = unwritten.belonging(chosen[0], texts, unwritten.text_of_user(context.target, text_of(test) or ""))
        unwritten_others = unwritten.around(chosen, texts)
    return chosen, unwritten_others


async def _gather_evidence(
    context: BaselineContext,
    spec: Spec,
    related: RelatedTestsRun,
    failing: Mapping[str, CaseResult],
    stubs: Mapping[str, str],
    created: Sequence[Region],
) -> CoverageEvidence:
    """Runs the failing cases and their most similar passing neighbours once more, by statement."""
    passing = [case for case, outcome in related.outcomes.items() if outcome == "passed"]
    failures = {case: result.failure for case, result in failing.items()}
    evidence = context.gather_evidence(related.reach, failures, passing)
    snapshot = context.snapshot
    first = [*created] or ranking.rank(evidence)[:1]
    if all(each.created or regions.is_unwritten(each, snapshot.text) for each in first):
        return evidence  # what does not exist yet is at fault
    context.report_status("looking for the fault")
    seconds = sum(result.seconds for result in failing.values())
    hangs = any(is_cut_short(result) for result in failing.values())
    texts = {each.path: snapshot.text(each.path) or "" for each in evidence.suspects}
    traces, touched, ages = await asyncio.gather(
        trace_statements(context, evidence, stubs, spec.selectors, seconds=seconds, hangs=hangs),
        asyncio.to_thread(find_touched, snapshot.root, texts, evidence.suspects),
        asyncio.to_thread(find_ages, snapshot.root, texts, evidence.suspects),
    )
    return replace(evidence, statements=traces, touched=touched, ages=ages)
