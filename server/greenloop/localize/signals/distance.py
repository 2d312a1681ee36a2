"""How many calls a function is away from the failing test."""

from __future__ import annotations

from collections.abc import Mapping

from greenloop.core.records.spec import Region
from greenloop.localize.evidence import Evidence


def scores(evidence: Evidence) -> Mapping[Region, float]:
    """Returns 1 for what the test calls itself, and less for each call below."""
    return {region: 1 / max(1, entry.depth) for region, entry in evidence.suspects.items()}
