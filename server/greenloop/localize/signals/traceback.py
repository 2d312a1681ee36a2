"""Where the exception was raised, and what called it: the nearer, the more suspicious."""

from __future__ import annotations

from collections.abc import Mapping

from greenloop.core.records.spec import Region
from greenloop.localize.evidence import Evidence


def scores(evidence: Evidence) -> Mapping[Region, float]:
    """Returns 1 for the function that raised, and less for each caller."""
    return {region: 1 / (1 + position) for region, position in evidence.frames.items()}
