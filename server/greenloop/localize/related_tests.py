"""Runs and traces the tests that a change of the target may affect, without any change.

It must not know how the regions are ranked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from greenloop.core.records.sandbox import Execution
from greenloop.core.records.spec import Region
from greenloop.core.records.verdict import CaseResult
from greenloop.core.report import ReachedFunction, case_results, collected_cases, reached_functions
from greenloop.core.test_selection import fit_selectors
from greenloop.localize.context import BaselineContext
from greenloop.project.workspace import importing_tests


@dataclass(frozen=True, kw_only=True)
class RelatedTestsRun:
    """Run of the related tests: outcomes by id, functions that each case reached, how many were left out, the run."""

    outcomes: Mapping[str, str]
    reach: Mapping[str, Sequence[ReachedFunction]]
    left_out: int
    execution: Execution | None = None


async def run_related_tests(
    context: BaselineContext,
    execution: Execution,
    failing: Mapping[str, CaseResult],
    stubs: Mapping[str, str],
    created: Sequence[Region],
) -> RelatedTestsRun:
    """Runs and traces the tests of the target's file and of files that import a module which may be changed."""
    context.report_status("running the related tests on the unchanged code")
    reach: dict[str, Sequence[ReachedFunction]] = dict(reached_functions(execution))
    failures = {case: result.failure for case, result in failing.items()}
    first = created or context.rank_regions(reach, failures, ())
    modules = dict.fromkeys(region.path for region in first[:3])
    hanging = {case for case, failure in failures.items() if failure is not None and failure.type == "Timeout"}
    return await run_importing_tests(context, [context.target.path], modules, reach, stubs, hanging=hanging)


async def run_importing_tests(
    context: BaselineContext,
    files: Sequence[str],
    modules: Mapping[str, None],
    reach: dict[str, Sequence[ReachedFunction]],
    stubs: Mapping[str, str],
    *,
    hanging: AbstractSet[str] = frozenset(),
) -> RelatedTestsRun:
    test_files = dict.fromkeys(files)
    for module in modules:
        test_files.update(
            dict.fromkeys(importing_tests(context.snapshot.root, module, buffers=context.snapshot.buffers))
        )
    if not test_files or context.settings.suite.seconds <= 0:
        return RelatedTestsRun(outcomes={}, reach=reach, left_out=0)
    regions_to_change = list(test_files)
    if hanging:  # a case that hangs would use up the time of the others
        collected = await context.run(regions_to_change, stubs, collect=True)
        ids = [item.id for item in collected_cases(collected) if item.id not in hanging]
        if not ids:
            return RelatedTestsRun(outcomes={}, reach=reach, left_out=0)
        regions_to_change = list(fit_selectors(ids))
    execution = await context.run(regions_to_change, stubs, trace=True, seconds=context.settings.suite.seconds)
    finished = [result for result in case_results(execution) if not _is_cut_short(result)]
    outcomes = {result.id: result.outcome for result in finished}
    left_out = sum(item.id not in outcomes for item in collected_cases(execution))
    reach.update(reached_functions(execution))
    return RelatedTestsRun(outcomes=outcomes, reach=reach, left_out=left_out, execution=execution)


def _is_cut_short(result: CaseResult) -> bool:
    """Did the test never run, or end the whole run? Then its outcome says nothing about a candidate."""
    kind = result.failure.type if result.failure else ""
    return result.outcome == "missing" or kind in {"Timeout", "Crash", "MemoryLimit", "ProcessLimit"}
