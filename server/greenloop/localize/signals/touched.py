"""Scores code that the user has just changed: unsaved text, and text that is not committed yet."""

from __future__ import annotations

from collections.abc import Mapping
from math import log

from greenloop.core.records.spec import Region
from greenloop.localize.evidence import Evidence


def scores(evidence: Evidence) -> Mapping[Region, float]:
    """Returns 1 for the only suspect that was touched; the less, the more of the suspects were."""
    count, touched = len(evidence.suspects), evidence.touched & {*evidence.suspects}
    if not touched:
        return {}
    score = log(1 + count / len(touched)) / log(1 + count)
    return dict.fromkeys(touched, score)
