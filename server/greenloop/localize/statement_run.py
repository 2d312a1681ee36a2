"""One run that records which statements of the suspects the failing cases and some passing ones execute.

Without it all lines are equally suspicious; a failure here must never end a request.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from greenloop.core.errors import CannotVerifyError
from greenloop.core.records.problem import Problem
from greenloop.localize import regions
from greenloop.localize.context import BaselineContext
from greenloop.localize.evidence import CoverageEvidence
from greenloop.localize.signals import line_scores
from greenloop_sandbox import WatchedLines
from greenloop_sandbox.report.traces import StatementTrace, statement_traces

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

    `target` are the selectors of the failing cases, which took so many seconds; `files` are texts to add.
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
