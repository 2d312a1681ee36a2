"""Runs a target that is a test unchanged, over stubs of what does not exist yet, until each of its cases has a result.

It must not know what is made of the results.
"""

from __future__ import annotations

from collections.abc import Mapping

from greenloop.core.records.spec import Region
from greenloop.localize import regions
from greenloop.localize.context import BaselineContext
from greenloop.localize.measuring import Measurement
from greenloop.localize.missing.missing_names import find_missing
from greenloop.localize.missing.stubs import add_stubs
from greenloop.project.sources import is_trusted
from greenloop_sandbox import Execution, case_results
from greenloop_sandbox.report.cases import collect_errors, records_of_kind, whole_stack

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
