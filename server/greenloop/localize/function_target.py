"""The baseline of a function or its docstring: its examples, and the tests that reach it.

It must not know which model or preset the run will use.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from greenloop.core.documentation import find_prose_reader, read_documentation
from greenloop.core.errors import CannotVerifyError
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Provenance, Region, Spec
from greenloop.core.records.verdict import Status
from greenloop.core.run_state import Baseline
from greenloop.localize import regions, unwritten
from greenloop.localize.context import BaselineContext, build_baseline
from greenloop.localize.early_end import environment_fault, find_flaky, require_collected, stop_early
from greenloop.localize.evidence import Reached
from greenloop.localize.incomplete_code import measure_completed
from greenloop.localize.measuring import Measurement, is_cut_short
from greenloop.localize.related_tests import RelatedTestsRun, run_importing_tests
from greenloop.localize.target_run import trace_statements, with_suspicion
from greenloop.localize.unreached.uncollected import refuse_uncollected
from greenloop.project.sources import import_name_in_tests
from greenloop.project.syntax import definitions
from greenloop.specs.doctest import examples
from greenloop_sandbox import Execution, collected_cases
from greenloop_sandbox.report.cases import collect_errors


async def measure(context: BaselineContext) -> Baseline:
    """Measures the baseline of a function; what it raises: `baseline.measure_baseline`."""
    text = context.snapshot.text(context.target.path) or ""
    region = context.target.region
    reader = find_prose_reader()
    if region.qualname and reader and (clash := reader.contradiction(region, text)):
        raise CannotVerifyError(clash, remedy="Only one of the two can hold; correct the docstring first.")
    documented = _examples_of(context, region, text)
    context.report_status("running its examples and the tests that reach it")
    measurement = Measurement(context=context)
    related = await run_importing_tests(context, [], {context.target.path: None}, measurement)
    if completed := await _measure_importable(context, related):
        return completed
    places = (region,) if region.qualname else unwritten.members(region, text)
    reaching = [case for case, hits in related.reach.items() if any(hit.is_in(each) for hit in hits for each in places)]
    reaching += [case for case in _ended_inside(measurement, region) if case not in reaching]
    if not reaching and context.aim is None:
        reaching = _stopped_before(context, measurement, unwritten.members(region, text))
    examples_run = measurement.again(documented.files)
    execution, tests = await _run_examples(context, documented, reaching, examples_run)
    spec = documented + Spec(cases=tests, selectors=tuple(case.id for case in tests))
    if not spec.cases and context.aim is not None and related.left_out:
        raise CannotVerifyError(
            f"Not all tests that may reach {region.qualname} had time to run, and none of the others reaches it.",
            remedy="Give them more, for example: --set suite.seconds=600",
        )
    if not spec.cases and context.aim is not None:
        if related.execution is not None:
            if ended := environment_fault(context, related.execution):
                return ended
            require_collected(related.execution)
        raise CannotVerifyError(
            f"No test reaches {region.qualname}, so nothing would notice what a change breaks.",
            remedy="Write a test that calls it first.",
        )
    if not spec.cases and context.aim is None:
        _refuse_unfillable(context, region, text, related)
    if ended := await _end_early(context, spec, execution, related, examples_run):
        return ended
    members, others = _unwritten_members(context, region, text, tests) if context.aim is None else ((), ())
    baseline = build_baseline(
        context,
        spec,
        members or (region,),
        execution,
        related.outcomes,
        {},
        unmeasured=related.unmeasured,
        reach=related.reached,
        measured=examples_run.results,
        suspects=others,
    )
    if not spec.cases:  # tests generated from the docstring, or required by settings, are added later
        return baseline
    baseline = replace(baseline, measurement=related.measurement)
    return replace(baseline, problem=await _suspect_lines(context, baseline, region, related))


async def _measure_importable(context: BaselineContext, related: RelatedTestsRun) -> Baseline | None:
    """The baseline over completed code where the function's own file keeps tests from being collected, else None."""
    if related.execution is None or context.aim is not None:
        return None
    innermost = (error.failure.frames[-1:] for error in collect_errors(related.execution))
    if not any(frame.path == context.target.path for frames in innermost for frame in frames):
        return None
    return await measure_completed(context, related.execution, measure)


def _refuse_unfillable(context: BaselineContext, region: Region, text: str, related: RelatedTestsRun) -> None:
    """Raises `CannotVerifyError` for what has neither tests nor a docstring to write it by."""
    unwritten.refuse_left_open(region, text)
    members = unwritten.members(region, text)
    if region.qualname and read_documentation(text, region.start, region.end).docstring:
        return
    execution = related.execution
    if not members:
        if execution and not collected_cases(execution) and not environment_fault(context, execution):
            refuse_uncollected(context, execution)
        return
    if execution is not None:
        for error in collect_errors(execution):
            path = error.id.partition("::")[0]
            unwritten.refuse_at_import([error.failure], path, context.snapshot.text, context.patterns)
    unwritten.refuse_unreached(region, members)


def _examples_of(context: BaselineContext, region: Region, text: str) -> Spec:
    """The examples in the docstring of a function or class; none for a module, whose functions have their own."""
    if not region.qualname:
        return Spec()
    spec = examples(context.target, text)
    if reader := find_prose_reader():
        spec += reader.build_spec(region, text, import_name_in_tests(region.path, context.snapshot.root))
    return spec


def _unwritten_members(
    context: BaselineContext, region: Region, text: str, tests: Sequence[Case]
) -> tuple[tuple[Region, ...], tuple[Region, ...]]:
    """The functions of a class or module that are to be written, with all that its tests need as well; and the others.

    Of those that no test names nobody would notice what they do, so they stay as they are, unless a test's run comes to
    them.
    """
    members, paths = unwritten.members(region, text), list(dict.fromkeys(case.path for case in tests))
    user = "\n".join(context.snapshot.text(path) or "" for path in paths)
    called = unwritten.needed(members, text, user) or members  # those that subclasses inherit are named by no class
    if not called or not paths:
        return (), ()
    texts = unwritten.modules_around(region.path, paths[0], context.snapshot, context.patterns)
    needed = unwritten.belonging(called[0], texts, user)
    if left := [each.qualname for each in members if each not in needed]:
        context.report_status(f"no test calls {', '.join(left)}: left as it is")
    return needed, unwritten.around(needed, texts)


async def _end_early(
    context: BaselineContext, spec: Spec, execution: Execution, related: RelatedTestsRun, examples_run: Measurement
) -> Baseline | None:
    """Ends the run where no candidate can help, or none is needed."""
    if not spec.cases:
        return environment_fault(context, related.execution) if related.execution is not None else None
    if not collected_cases(execution) and (ended := environment_fault(context, execution)):
        return ended
    return stop_early(context, spec, execution, examples_run.results) or await find_flaky(
        context, spec, execution, spec.files, examples_run.results, set()
    )


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
    evidence = replace(evidence, suspects={region: Reached(depth=1, order=0)})
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
        if item.id in reaching and (outcomes.get(item.id) != "passed" or not documented.cases or context.aim)
    ]
    return execution, tuple(failing)


def _ended_inside(measurement: Measurement, region: Region) -> list[str]:
    """The cases that did not end because of the function: they hang or crash in it, or below."""
    ended = {case: result.failure for case, result in measurement.results.items() if is_cut_short(result)}
    frames = {case: failure.frames for case, failure in ended.items() if failure is not None}
    lines = range(region.start, region.end + 1)
    return [case for case in frames if any(each.path == region.path and each.line in lines for each in frames[case])]


def _stopped_before(context: BaselineContext, measurement: Measurement, members: Sequence[Region]) -> list[str]:
    """The cases whose file names one of these functions, or its class, and that stop in other unwritten code."""
    names = {part for each in members for part in each.qualname.split(".") if not part.startswith("__")}
    cases = []
    for case, result in measurement.results.items():
        frames = result.failure.frames if result.failure else ()
        regions_passed = (
            regions.region_at(each.path, each.line, context.snapshot.text, context.patterns) for each in frames
        )
        last = next((each for each in reversed([*regions_passed]) if each), None)
        text = context.snapshot.text(case.partition("::")[0]) or ""
        if last and regions.is_unwritten(last, context.snapshot.text) and names & definitions.identifiers(text):
            cases.append(case)
    return cases
