"""How much the failing cases speak against each line of the regions: a spectrum by Ochiai's coefficient.

One watched run of the target cases and of some neighbours that pass and reach the regions. Where it cannot be had, one
line is as good as another; it must never end a request.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from math import sqrt

from greenloop.core.errors import CannotVerifyError
from greenloop.core.records.problem import Problem
from greenloop.core.records.sandbox import WatchedLines
from greenloop.core.records.spec import Region
from greenloop.core.records.verdict import Status
from greenloop.core.report import LineTrace, ReachedFunction, line_traces
from greenloop.core.run_state import Baseline
from greenloop.localize import regions
from greenloop.localize.context import BaselineContext

MOST_PASSING = 20  # neighbours that are watched
WATCH_SECONDS = 3.0  # of the watched run; a target that takes longer by itself is not watched

Suspicion = Mapping[str, Mapping[int, float]]


async def add_suspicion(
    context: BaselineContext, baseline: Baseline, reach: Mapping[str, Sequence[ReachedFunction]]
) -> Baseline:
    """The baseline with `Problem.suspicion`; `reach` says which functions each neighbour calls."""
    problem, verdict = baseline.problem, baseline.attempt.verdict
    written = [region for region in problem.regions if not _is_stub(region, problem)]
    hangs = verdict.status is Status.TIMEOUT
    if not written or (verdict.seconds > WATCH_SECONDS and not hangs):
        return baseline
    failing = {case.id for case in verdict.cases if not case.passed}
    passing = [case for case in baseline.outcomes if baseline.outcomes[case] == "passed" and case not in failing]
    near = nearest(passing, reach, written)
    targets = problem.spec.selectors
    # A case that never ends has told all it had to tell, but takes the time of those behind it.
    selectors = [*near, *targets] if hangs else [*targets, *near]
    watch = tuple(WatchedLines(path=region.path, start=region.start, end=region.end) for region in written)
    try:
        execution = await context.run(selectors, problem.spec.files, watch=watch, seconds=WATCH_SECONDS, baseline=False)
    except CannotVerifyError:
        return baseline
    found = ochiai(line_traces(execution), failing, {*passing})
    return replace(baseline, problem=replace(problem, suspicion=found))


def nearest(
    passing: Sequence[str], reach: Mapping[str, Sequence[ReachedFunction]], suspects: Sequence[Region]
) -> list[str]:
    """The neighbours that call a region most directly, as many as are worth watching."""
    depths = {
        case: min((hit.depth for hit in reach.get(case, ()) if _is_in(hit, suspects)), default=None) for case in passing
    }
    found = [(depth, case) for case, depth in depths.items() if depth is not None]
    return [case for _depth, case in sorted(found, key=lambda pair: pair[0])][:MOST_PASSING]


def ochiai(watched_cases: Mapping[str, LineTrace], failing: Collection[str], passing: Collection[str]) -> Suspicion:
    """By path and line, 0..1; only lines that a failing case has run.

    Failing cases that run the line, over the root of (failing cases) x (cases that run it): A. Ochiai 1957, as used by
    Abreu, Zoeteweij and van Gemund, "On the Accuracy of Spectrum-based Fault Localization", 2007.
    """
    bad = [watched_cases[case].lines for case in failing if case in watched_cases]
    good = [watched_cases[case].lines for case in passing if case in watched_cases]
    scores: dict[str, dict[int, float]] = {}
    for path, line in sorted({(path, line) for lines in bad for path, ran in lines.items() for line in ran}):
        failed = sum(line in lines.get(path, ()) for lines in bad)
        passed = sum(line in lines.get(path, ()) for lines in good)
        scores.setdefault(path, {})[line] = failed / sqrt(len(bad) * (failed + passed))
    return scores


def _is_in(hit: ReachedFunction, suspects: Sequence[Region]) -> bool:
    return any(hit.path == region.path and region.start <= hit.firstlineno <= region.end for region in suspects)


def _is_stub(region: Region, problem: Problem) -> bool:
    return region.created or regions.is_unwritten(region, problem.files.get)
