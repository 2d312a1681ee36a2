"""Which functions produced the value that the failing statement compared, directly or by what it holds."""

from __future__ import annotations

from collections.abc import Mapping

from greenloop.core.records.spec import Region
from greenloop.localize.evidence import Evidence


def scores(evidence: Evidence) -> Mapping[Region, float]:
    """Returns 1 for functions that returned a compared value, less for its parts and for methods of it."""
    found: dict[Region, float] = {}
    for case in evidence.failing:
        trace = evidence.statements.get(case)
        for (path, line), weight in trace.produced.items() if trace else ():
            region = evidence.region_of(path, line)
            if region is not None:
                found[region] = max(weight, found.get(region, 0.0))
    return found
