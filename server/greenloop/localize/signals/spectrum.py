"""Scores code that failing cases run and passing ones do not.

A function is as suspicious as its most suspicious statement, so that one which every test enters looks no more
innocent than the branch that only the failing test takes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import sqrt

from greenloop.core.records.spec import Region
from greenloop.localize.evidence import Evidence

Lines = Mapping[str, Collection[int]]
Suspicion = Mapping[str, Mapping[int, float]]


def scores(evidence: Evidence) -> Mapping[Region, float]:
    """Returns each function's suspicion by its worst statement, 0..1 in proportion to the most suspicious function.

    By its calls where no statements were traced. In proportion, so that few failing cases against many passing ones,
    which make all coefficients small, do not leave the decision to the other signals.
    """
    lines = {case: trace.lines for case, trace in evidence.statements.items()}
    by_line = line_scores(lines, evidence.failing, evidence.passing)
    found: dict[Region, float] = {}
    for path, suspicion in by_line.items():
        for line, score in suspicion.items():
            region = evidence.region_of(path, line)
            if region is not None:
                found[region] = max(score, found.get(region, 0.0))
    found = {**_entry_scores(evidence), **found}
    most = max(found.values(), default=0.0)
    return {region: score / most for region, score in found.items()} if most else found


def _entry_scores(evidence: Evidence) -> Mapping[Region, float]:
    """Returns each function's suspicion by which cases entered it, 0..1."""
    found = {}
    for region in evidence.suspects:
        failed = sum(region in evidence.entered[case] for case in evidence.failing)
        passed = sum(region in evidence.entered[case] for case in evidence.passing)
        failed = failed or (1 if region in evidence.frames else 0)
        found[region] = ochiai(failed, passed, max(1, len(evidence.failing)))
    return found


def line_scores(traced: Mapping[str, Lines], failing: Collection[str], passing: Collection[str]) -> Suspicion:
    """Returns the suspicion of lines by path and line number; only lines that a failing case ran have one."""
    failing_lines = [traced[case] for case in failing if case in traced]
    passing_lines = [traced[case] for case in passing if case in traced]
    failed_by, passed_by = _counts(failing_lines), _counts(passing_lines)
    found: dict[str, dict[int, float]] = {}
    for (path, line), failed in sorted(failed_by.items()):
        passed = passed_by.get((path, line), 0)
        found.setdefault(path, {})[line] = ochiai(failed, passed, len(failing_lines))
    return found


def _counts(cases: Collection[Lines]) -> Mapping[tuple[str, int], int]:
    counts: dict[tuple[str, int], int] = {}
    for lines in cases:
        for path, ran in lines.items():
            for line in ran:
                counts[path, line] = counts.get((path, line), 0) + 1
    return counts


def ochiai(failed: int, passed: int, all_failing: int) -> float:
    """Returns 0..1 for what so many failing and passing cases ran.

    A. Ochiai 1957, as used by Abreu, Zoeteweij and van Gemund, "On the Accuracy of Spectrum-based Fault Localization",
    2007.
    """
    return failed / sqrt(all_failing * (failed + passed)) if failed else 0.0
