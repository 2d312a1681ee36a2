"""How much of a function the failing test runs: a fault needs room."""

from __future__ import annotations

from collections.abc import Mapping
from math import log

from greenloop.core.records.spec import Region
from greenloop.localize.evidence import Evidence

LARGE = 30  # lines: from here on a function is not more suspicious


def scores(evidence: Evidence) -> Mapping[Region, float]:
    """Returns 0 for functions of which a single line ran, up to 1; by all lines where no statements were traced."""
    return {
        region: min(1.0, log(max(1, len(evidence.ran.get(region, ())) or _length(region))) / log(LARGE))
        for region in evidence.suspects
    }


def _length(region: Region) -> int:
    return max(1, region.end - region.start)
