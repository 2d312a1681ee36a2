"""Spectrum-based fault localisation: the suspicion of each line of the regions by Ochiai's coefficient.

Needs one line-traced run of the target cases and of some passing related tests that reach the regions. Without it all
lines are equally suspicious; a failure here must never end a request.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from math import sqrt

from greenloop.core.errors import CannotVerifyError
from greenloop.core.records.sandbox import WatchedLines
from greenloop.core.records.spec import Region
from greenloop.core.records.verdict import Status
from greenloop.core.report import LineTrace, ReachedFunction, line_traces
from greenloop.core.run_state import Baseline
from greenloop.localize import regions
from greenloop.localize.context import BaselineContext

MOST_PASSING = 20  # related tests in the traced run
WATCH_SECONDS = 3.0  # of the traced run; a target that alone takes longer is not traced

Suspicion = Mapping[str, Mapping[int, float]]


async def add_suspicion(
    context: BaselineContext, baseline: Baseline, reach: Mapping[str, Sequence[ReachedFunction]]
) -> Baseline:
    """Adds `Problem.suspicion` to the baseline; `reach` maps each related test to the functions that it calls."""
    problem, verdict = baseline.problem, baseline.attempt.verdict
    written = [
        region
        for region in (*problem.regions, *problem.suspects)
        if not regions.is_unwritten(region, problem.files.get)
    ]
    existing = [region for region in written if not region.created]
    hangs = verdict.status is Status.TIMEOUT
    if not existing or (verdict.seconds > WATCH_SECONDS and not hangs):
        return baseline
    failing = {case.id for case in verdict.cases if not case.passed}
    passing = [case for case in baseline.outcomes if baseline.outcomes[case] == "passed" and case not in failing]
    related = nearest(passing, reach, existing)
    target_selectors = problem.spec.selectors
    # A case that hangs is traced up to its limit, but leaves no time for cases after it, so it runs last.
    selectors = [*related, *target_selectors] if hangs else [*target_selectors, *related]
    watch = tuple(WatchedLines(path=region.path, start=region.start, end=region.end) for region in existing)
    try:
        execution = await context.run(selectors, problem.spec.files, watch=watch, seconds=WATCH_SECONDS, baseline=False)
    except CannotVerifyError:
        return baseline
    suspicion = ochiai(line_traces(execution), failing, {*passing})
    return replace(baseline, problem=replace(problem, suspicion=suspicion))


def nearest(
    passing: Sequence[str], reach: Mapping[str, Sequence[ReachedFunction]], suspects: Sequence[Region]
) -> list[str]:
    """Returns the related tests that call a region most directly, at most `MOST_PASSING`."""
    depths = {
        case: min((hit.depth for hit in reach.get(case, ()) if any(map(hit.is_in, suspects))), default=None)
        for case in passing
    }
    reaching = [(depth, case) for case, depth in depths.items() if depth is not None]
    return [case for _depth, case in sorted(reaching, key=lambda pair: pair[0])][:MOST_PASSING]


def ochiai(watched_cases: Mapping[str, LineTrace], failing: Collection[str], passing: Collection[str]) -> Suspicion:
    """Scores lines by path and line number, 0..1; only lines that a failing case ran have a score.

    The score is the number of failing cases that run the line, over the square root of (failing cases) x (cases that
    run it): A. Ochiai 1957, as used by Abreu, Zoeteweij and van Gemund, "On the Accuracy of Spectrum-based Fault
    Localization", 2007.
    """
    failing_lines = [watched_cases[case].lines for case in failing if case in watched_cases]
    passing_lines = [watched_cases[case].lines for case in passing if case in watched_cases]
    scores: dict[str, dict[int, float]] = {}
    for path, line in sorted({(path, line) for lines in failing_lines for path, ran in lines.items() for line in ran}):
        failed = sum(line in lines.get(path, ()) for lines in failing_lines)
        passed = sum(line in lines.get(path, ()) for lines in passing_lines)
        scores.setdefault(path, {})[line] = failed / sqrt(len(failing_lines) * (failed + passed))
    return scores
