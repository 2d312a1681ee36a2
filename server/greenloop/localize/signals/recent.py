"""Scores code that the last commits changed: new code has more faults than code that has been in use.

T. L. Graves, A. F. Karr, J. S. Marron and H. Siy, "Predicting fault incidence using software change history", 2000,
weigh changes by their age.
"""

from __future__ import annotations

from collections.abc import Mapping

from greenloop.core.records.spec import Region
from greenloop.localize.evidence import Evidence

HALF = 40  # days before the last commit: such a change is half as suspicious as one of that commit


def scores(evidence: Evidence) -> Mapping[Region, float]:
    """Returns 1 for suspects that the last commit changed, and less the older their last change is."""
    return {region: 0.5 ** (age / HALF) for region, age in evidence.ages.items()}
