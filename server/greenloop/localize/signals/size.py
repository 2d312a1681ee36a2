"""How much of a function the failing test runs: a fault needs room."""

from __future__ import annotations

from collections.abc import Mapping
from math import log

from greenloop.core.records.spec import Region
from greenloop.localize.evidence import Evidence

LARGE = 30  # lines: from here on a function is not more suspicious


def scores(evidence: Evidence) -> Mapping[Region, float]:
    """Returns 0 for functions of which a single line ran, up to 1; by all lines where no statements were traced."""
    ran: dict[Region, set[int]] = {}
    for case in evidence.failing:
        trace = evidence.statements.get(case)
        for path, lines in trace.lines.items() if trace else ():
            for line in lines:
                region = evidence.region_of(path, line)
                if region is not None:
                    ran.setdefault(region, set()).add(line)
    return {
        region: min(1.0, log(max(1, len(ran[region]) if region in ran else _length(region))) / log(LARGE))
        for region in evidence.suspects
    }


def _length(region: Region) -> int:
    return max(1, region.end - region.start)
