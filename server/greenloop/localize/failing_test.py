"""The baseline of a failing test: why it fails, and which functions may be at fault.

It must not know which model or preset the run will use.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from greenloop.core.errors import CannotVerifyError, UsageError
from greenloop.core.reach import Reach
from greenloop.core.records.problem import DataFile, Findings
from greenloop.core.records.spec import Region, Spec
from greenloop.core.run_state import Baseline
from greenloop.localize import assignments, ranking, regions, unwritten
from greenloop.localize.context import BaselineContext, build_baseline, without_cases
from greenloop.localize.data_files import find_data_files
from greenloop.localize.early_end import environment_fault, find_flaky, stop_early, unless
from greenloop.localize.evidence import CoverageEvidence, gather_evidence
from greenloop.localize.findings import gather_findings, with_siblings
from greenloop.localize.incomplete_code import measure_completed
from greenloop.localize.measuring import Measurement, is_cut_short
from greenloop.localize.ranking import find_reasons, find_touched
from greenloop.localize.related_tests import RelatedTestsRun, run_related_tests
from greenloop.localize.target_run import measure_rest, run_with_stubs, trace_statements, with_suspicion
from greenloop.localize.unreached.named_by_failure import find_called_by
from greenloop.localize.unreached.uncollected import refuse_broken_pytest, refuse_uncollected
from greenloop.project.targets import nearest_names
from greenloop.specs.pytest import read_spec
from greenloop_sandbox import CaseResult, Execution, Failure, case_results, collected_cases

FILE_SECONDS = 1.5  # that a first question waits for the other tests of the target's file
READ = "read by a function that ran, or by the test"  # why an assignment is shown
LONGEST_LINE = 200  # characters of a message that is shown


async def measure(context: BaselineContext) -> Baseline:
    """Measures the baseline of a failing test; what it raises: `baseline.measure_baseline`."""
    context.report_status("running the test on the unchanged code")
    stubs, created, execution = await run_with_stubs(context)
    if not collected_cases(execution):
        completed = None if created else await measure_completed(context, execution, measure)
        return completed or await _explain_uncollected(context, execution, stubs)
    refuse_broken_pytest(context, execution)
    spec = read_spec(execution, context.target)
    measurement = await measure_rest(context, execution, stubs)
    results = dict(measurement.results)
    if ended := stop_early(context, spec, execution, results):
        return ended
    unstable: set[str] = set()
    target = _FailingTarget(
        context=context, spec=spec, execution=execution, created=created, measurement=measurement, measured=results
    )
    baseline = await unless(find_flaky(context, spec, execution, stubs, results, unstable), _locate(target))
    return without_cases(baseline, unstable)


async def _explain_uncollected(context: BaselineContext, execution: Execution, stubs: Mapping[str, str]) -> Baseline:
    if ended := environment_fault(context, execution):
        return ended
    refuse_uncollected(context, execution)
    whole_file = await context.run([context.target.path], stubs, collect=True)
    nearby = nearest_names(context.target.selector, [item.id for item in collected_cases(whole_file)])
    hint = f"Did you mean: {', '.join(nearby)}" if nearby else f"pytest finds no test in {context.target.path}."
    raise UsageError(f"There is no test {context.target.selector}.", remedy=hint)


@dataclass(frozen=True, kw_only=True)
class _FailingTarget:
    """A target as it was measured: its cases, its first run, and the regions of stubs for what does not exist yet.

    `measured` are results of cases that the first run did not get to; `measurement` goes on with other tests.
    """

    context: BaselineContext
    spec: Spec
    execution: Execution
    created: tuple[Region, ...]
    measurement: Measurement
    measured: Mapping[str, CaseResult]

    @property
    def stubs(self) -> Mapping[str, str]:
        return self.measurement.stubs

    @cached_property
    def failing(self) -> Mapping[str, CaseResult]:
        every = {result.id: result for result in case_results(self.execution)} | dict(self.measured)
        return {case: result for case, result in every.items() if not result.passed}

    @cached_property
    def failures(self) -> Mapping[str, Failure | None]:
        return {case: result.failure for case, result in self.failing.items()}

    def text_of(self, path: str) -> str | None:
        """The text of a file, stubs included."""
        return self.stubs[path] if path in self.stubs else self.context.snapshot.text(path)

    def early_baseline(
        self,
        chosen: tuple[Region, ...],
        ranked: Sequence[Region],
        modules: Sequence[str],
        data: tuple[DataFile, ...] = (),
    ) -> Baseline:
        """The baseline without related tests."""
        others = regions.others(ranked, chosen, self.context.snapshot.text, modules)
        return build_baseline(
            self.context,
            self.spec,
            chosen,
            self.execution,
            {},
            self.stubs,
            measured=self.measured,
            suspects=others,
            data=data,
        )

    async def find_data(self) -> tuple[DataFile, ...]:
        """The data files that the failing cases read."""
        context = self.context
        return await asyncio.to_thread(
            find_data_files,
            self.measurement.reach,
            self.failures,
            context.snapshot.readable_text,
            context.snapshot.root,
            patterns=context.patterns,
            masked=context.place.masked,
        )


async def _locate(target: _FailingTarget) -> Baseline:
    """Runs the related tests, and chooses the functions that may be at fault."""
    context, created, failures = target.context, target.created, target.failures
    if context.when_failing is not None and not created:
        _tell_early(target, context.when_failing)
    data = await target.find_data()
    if context.when_located is not None:
        await _tell_located(target, context.when_located, data)
    targets = {case.id for case in target.spec.cases}
    related = await run_related_tests(context, target.measurement, targets, failures, created)
    evidence = await _gather_evidence(target, related)
    if created:
        regions_to_change, suspects = created, _find_beside(target, related)
    else:
        regions_to_change, suspects = _choose_regions(target, evidence, related.modules)
    regions_to_change = regions_to_change or context.fallback or context.used_by_test(failures.values())
    if not regions_to_change and context.when_located is None:  # a capable model may change any file
        reason = next((f" It fails with {_first_line(each)}." for each in failures.values() if each), "")
        raise CannotVerifyError(
            f"{context.target.selector} reaches no function in this workspace that may be changed.{reason}",
            remedy="Put the cursor on the function to change, or write `greenloop fix file.py::function`.",
        )
    suspects += context.plain_classes(failures.values(), (*regions_to_change, *suspects))
    baseline = build_baseline(
        context,
        target.spec,
        tuple(regions_to_change),
        target.execution,
        related.outcomes,
        target.stubs,
        unmeasured=related.unmeasured,
        reach=related.reached,
        measured=target.measured,
        suspects=suspects,
        data=data,
    )
    problem = with_suspicion(baseline.problem, evidence.statements, evidence.failing, evidence.passing)
    baseline = replace(baseline, problem=problem, measurement=related.measurement, reasons=find_reasons(evidence))
    return with_siblings(baseline, context)


def _first_line(failure: Failure) -> str:
    line = failure.message.strip().partition("\n")[0].rstrip(".")
    return f"{failure.type}: {line[:LONGEST_LINE]}" if line else failure.type


def _tell_early(target: _FailingTarget, tell: Callable[[Baseline], None]) -> None:
    """Passes on a baseline with the functions that the failing cases reached; none where they reach nothing.

    Assignments come later: to see which are read takes longer than to try the first changes.
    """
    context = target.context
    evidence = context.gather_evidence(target.measurement.reach.functions, target.failures, ())
    ranked = ranking.rank(evidence)
    chosen, _unwritten_others = _choose_functions(context, ranked, target.failures.values())
    if chosen:
        tell(target.early_baseline(chosen, ranked, [region.path for region in evidence.suspects]))


async def _tell_located(target: _FailingTarget, tell: Callable[[Findings], None], data: tuple[DataFile, ...]) -> None:
    """Passes on what a report needs: the other tests of the file have run by then, or their time is over."""
    context, spec = target.context, target.spec
    own = {case.id for case in spec.cases}
    half = FILE_SECONDS / 2
    others = await context.run(
        [context.target.path], target.stubs, trace=True, seconds=FILE_SECONDS, case_seconds=half, baseline=False
    )
    known = {**{result.id: result for result in case_results(others)}, **target.measurement.results}
    results = {**known, **{result.id: result for result in case_results(target.execution) if result.id in own}}
    cases = [results[case.id] for case in spec.cases if case.id in results]
    failing = {case.id: case.failure for case in cases if not case.passed}
    passing = [case for case, result in results.items() if result.passed]
    reach = Reach()
    for each in (others, target.execution):
        reach.add(each)
    evidence = context.gather_evidence({**reach.functions, **target.measurement.reach.functions}, failing, passing)
    evidence = await _with_changes(context, evidence)
    suspicions = ranking.suspicions(evidence)
    ranked = ranking.sort_by(evidence, suspicions)
    read = await asyncio.to_thread(assignments.find_read, evidence, ranked, suspicions, context.snapshot.root)
    failures = [result.failure for result in results.values()]
    chosen, _others = (target.created, ()) if target.created else _choose_functions(context, ranked, failures)
    chosen, whole = chosen or context.fallback, replace(target, measured=results)
    early = whole.early_baseline(chosen, ranked, [region.path for region in evidence.suspects], data)
    reasons, related = find_reasons(evidence), dict.fromkeys(read, READ)
    tell(await gather_findings(context, early.problem, cases, results, reasons=reasons, related=related))


async def _with_changes(
    context: BaselineContext, evidence: CoverageEvidence, find: Callable[..., frozenset[Region]] = find_touched
) -> CoverageEvidence:
    """The evidence with what the user has touched of the suspects."""
    texts = {each.path: context.snapshot.text(each.path) or "" for each in evidence.suspects}
    touched = await asyncio.to_thread(find, context.snapshot.root, texts, evidence.suspects)
    return replace(evidence, touched=touched)


def _choose_regions(
    target: _FailingTarget, evidence: CoverageEvidence, modules: Sequence[str]
) -> tuple[tuple[Region, ...], tuple[Region, ...]]:
    """Returns the regions to change, and the other suspects of these modules: functions, and assignments they read.

    A test that reaches no function may still read an assignment.
    """
    context, suspicions = target.context, ranking.suspicions(evidence)
    ranked = ranking.sort_by(evidence, suspicions)
    chosen, unwritten_others = _choose_functions(context, ranked, target.failures.values())
    found = assignments.find_read(evidence, ranked, suspicions, context.snapshot.root)
    read = {each: score for each, score in found.items() if each.path in modules}
    functions = regions.others(ranked, chosen, context.snapshot.text, modules)
    others = assignments.insert(functions, read, suspicions)
    return (chosen, (*unwritten_others, *others)) if chosen else (tuple(others[:1]), tuple(others[1:]))


def _find_beside(target: _FailingTarget, related: RelatedTestsRun) -> tuple[Region, ...]:
    """Returns the suspects of the cases that fail for another reason than what does not exist yet.

    After them come functions that the other cases call: those behind what does not exist have not run yet.
    """
    context, created, text_of = target.context, target.created, target.text_of
    failures = {case: failure for case, failure in target.failures.items() if not _lacks(failure, created)}
    evidence = gather_evidence(related.reach, failures, (), text_of, patterns=context.patterns)
    found = regions.others(ranking.rank(evidence), created, text_of, [region.path for region in evidence.suspects])
    uses = context.failing_text(target.failures.values())
    paths = dict.fromkeys(region.path for region in created)
    called = (each for path in paths for each in find_called_by(uses, text_of(path) or "", path))
    return (*found, *(each for each in called if not any(each.overlaps(other) for other in (*found, *created))))


def _lacks(failure: Failure | None, created: Sequence[Region]) -> bool:
    """True if a failure comes from the stub of something that does not exist yet."""
    places = {(frame.path, frame.line) for frame in failure.frames} if failure else ()
    return failure is None or any(
        path == region.path and region.start <= line <= region.end for path, line in places for region in created
    )


def _choose_functions(
    context: BaselineContext, ranked: Sequence[Region], failures: Iterable[Failure | None]
) -> tuple[tuple[Region, ...], tuple[Region, ...]]:
    """Returns the functions to change, and other unwritten ones around them.

    They are the first of the ranking, or those that are unwritten and belong together.
    """
    text_of = context.snapshot.text
    chosen = regions.choose(ranked, text_of, failures, most=context.settings.regions)
    if not chosen or not regions.is_unwritten(chosen[0], text_of):
        return chosen, ()
    test = context.target.path
    texts = unwritten.modules_around(chosen[0].path, test, context.snapshot, context.patterns)
    chosen = unwritten.belonging(chosen[0], texts, unwritten.text_of_user(context.target, text_of(test) or ""))
    return chosen, unwritten.around(chosen, texts)


async def _gather_evidence(
    target: _FailingTarget,
    related: RelatedTestsRun,
    trace: Callable[..., Awaitable[Any]] = trace_statements,
    find: Callable[..., frozenset[Region]] = find_touched,
) -> CoverageEvidence:
    """Runs the failing cases and their most similar passing neighbours once more, by statement."""
    context = target.context
    passing = [case for case, outcome in related.outcomes.items() if outcome == "passed"]
    evidence = context.gather_evidence(related.reach, target.failures, passing)
    first = [*target.created] or ranking.rank(evidence)[:1]
    if all(each.created or regions.is_unwritten(each, context.snapshot.text) for each in first):
        return evidence  # what does not exist yet is at fault
    context.report_status("looking for the fault")
    seconds = sum(result.seconds for result in target.failing.values())
    hangs = any(is_cut_short(result) for result in target.failing.values())
    traces, evidence = await asyncio.gather(
        trace(context, evidence, target.stubs, target.spec.selectors, seconds=seconds, hangs=hangs),
        _with_changes(context, evidence, find),
    )
    return replace(evidence, statements=traces)
