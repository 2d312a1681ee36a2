"""Runs a target that is a test unchanged, over stubs of what does not exist yet, until each of its cases has a result.

It must not know what is made of the results.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from greenloop.core.errors import CannotVerifyError
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region
from greenloop.localize import regions
from greenloop.localize.context import BaselineContext
from greenloop.localize.evidence import CoverageEvidence
from greenloop.localize.incomplete_code import find_stubs
from greenloop.localize.measuring import Measurement
from greenloop.localize.signals import line_scores
from greenloop.project.sources import is_trusted
from greenloop_sandbox import Execution, WatchedLines, case_results
from greenloop_sandbox.report.cases import collect_errors, records_of_kind, whole_stack
from greenloop_sandbox.report.traces import StatementTrace, statement_traces

# Runs of the target: one for each missing module or class, as a second one is seen only behind the first.
MOST_MISSING = 10
REST = 0.4  # of the limit of one case, for the target's other cases after one that hangs
LEAST_REST = 3.0  # seconds for these at least
UNCLEAR = 5  # times the limit of one case, where it is not known what took the time


async def run_with_stubs(context: BaselineContext) -> tuple[dict[str, str], tuple[Region, ...], Execution]:
    """Runs the target; stubs each workspace name that does not exist yet (test first) and runs it again."""
    stubs: dict[str, str] = {}
    created: tuple[Region, ...] = ()
    for _ in range(MOST_MISSING):
        execution = await _run_target(context, stubs)
        failures = [result.failure for result in case_results(execution) if result.failure]
        failures += [error.failure for error in collect_errors(execution)]

        def text_of(path: str, stub_texts: Mapping[str, str] = dict(stubs)) -> str | None:
            return stub_texts[path] if path in stub_texts else context.snapshot.text(path)

        if (found := find_stubs(context, failures, text_of)) is None:
            break
        files, new_regions = found
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
        if execution.killed != "timeout" or longest <= limit:
            break
        stack = whole_stack(execution)
        innermost = stack[-1].path if stack else "<"
        if not innermost.startswith(("/", "<")) and not is_trusted(innermost, context.patterns):
            break  # the code under test hangs
        if stack and seconds < longest:
            continue
        context.report_status(f"it took longer than {limit:g} s; running it once more with {seconds:g} s")
        execution, limit = await context.run([context.target.selector], stubs, trace=True, seconds=seconds), seconds
    return execution


async def measure_rest(context: BaselineContext, execution: Execution, stubs: Mapping[str, str]) -> Measurement:
    """Returns the results of the target's cases; those behind one that hangs or ends the process are run now."""
    measurement = Measurement(context=context, stubs=stubs)
    limit = context.place.limits.seconds
    measurement.take_in(execution, limit)
    if measurement.unknown and not any(records_of_kind(execution, "finished")):
        context.report_status("running the tests behind the one that did not end")
        await measurement.go_on(max(LEAST_REST, REST * limit) if measurement.hangs else 2 * limit)
    return measurement


# -- the statements that cases run ------------------------------------------------------------------------------------


MOST_PASSING = 40  # related tests in the traced run
SHARE = 0.1  # of the run's time that is left: the most for the traced run
TRACE_SECONDS = 4.0  # of the traced run; a target that alone takes longer is not traced


async def trace_statements(
    context: BaselineContext,
    evidence: CoverageEvidence,
    files: Mapping[str, str],
    target: Sequence[str],
    *,
    seconds: float,
    hangs: bool,
) -> Mapping[str, StatementTrace]:
    """Returns what the cases ran of the suspects, by case id; empty where that would take too long.

    `target` are the selectors of the failing cases, which took `seconds`; `files` are texts to add.
    """
    limit = min(TRACE_SECONDS, SHARE * context.deadline.left)
    if not evidence.suspects or (seconds > limit and not hangs):
        return {}
    related = nearest(evidence)
    # A case that hangs is traced up to its limit, but leaves no time for cases after it, so it runs last.
    selectors = [*related, *target] if hangs else [*target, *related]
    lines = tuple(WatchedLines(path=each.path, start=each.start, end=each.end) for each in evidence.suspects)
    try:
        execution = await context.run(selectors, files, statements=lines, seconds=limit, baseline=False)
    except CannotVerifyError:
        return {}
    return statement_traces(execution)


def nearest(evidence: CoverageEvidence) -> list[str]:
    """Returns the passing cases that enter most of the suspects and little else, at most `MOST_PASSING`.

    Similar cases tell most: what they run too is the least likely to be at fault.
    """
    suspects = set(evidence.suspects)

    def similarity(case: str) -> float:
        entered = set(evidence.entered.get(case, ()))
        return len(entered & suspects) / max(1, len(entered | suspects))

    alike = {case: similarity(case) for case in evidence.passing if case not in evidence.failing}
    return sorted((case for case in alike if alike[case]), key=lambda case: -alike[case])[:MOST_PASSING]


def with_suspicion(
    problem: Problem,
    traces: Mapping[str, StatementTrace],
    failing: Collection[str],
    passing: Collection[str],
) -> Problem:
    """Returns the problem with the suspicion of its regions' and suspects' lines, where they exist and are written."""
    changeable = [each for each in (*problem.regions, *problem.suspects) if not each.created]
    written = [each for each in changeable if not regions.is_unwritten(each, problem.files.get)]
    lines = {case: trace.lines for case, trace in traces.items()}
    scores = line_scores(lines, failing, passing)
    suspicion = {}
    for path, found in scores.items():
        spans = [range(region.start, region.end + 1) for region in written if region.path == path]
        if kept := {line: score for line, score in found.items() if any(line in span for span in spans)}:
            suspicion[path] = kept
    return replace(problem, suspicion=suspicion)
