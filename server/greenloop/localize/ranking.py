"""Ranks the functions that a failing test reaches: each signal has a weight, and the sum decides."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from greenloop.core.records.spec import Region
from greenloop.localize import signals
from greenloop.localize.evidence import CoverageEvidence

Signal = Callable[[CoverageEvidence], Mapping[Region, float]]

SIGNALS: Mapping[str, Signal] = {
    "traceback": signals.traceback,
    "spectrum": signals.spectrum,
    "words": signals.words,
    "touched": signals.touched,
}
# Chosen by lab/benchmarks/ranking.py; lab/docs/localisation.md says what each adds.
# Past fixes cannot show what `touched` is worth, so it only decides between suspects that are nearly as suspicious.
WEIGHTS: Mapping[str, float] = {"spectrum": 1.0, "words": 1.0, "traceback": 1.0, "touched": 0.5}


def rank(evidence: CoverageEvidence, weights: Mapping[str, float] = WEIGHTS) -> list[Region]:
    """Returns the regions that may be at fault, most suspicious first."""
    return sort_by(evidence, suspicions(evidence, weights))


def suspicions(evidence: CoverageEvidence, weights: Mapping[str, float] = WEIGHTS) -> dict[Region, float]:
    """Returns the weighted sum of the signals for each suspect."""
    total = dict.fromkeys(evidence.suspects, 0.0)
    for name, weight in weights.items():
        for region, score in SIGNALS[name](evidence).items() if weight else ():
            if region in total:
                total[region] += weight * score
    return total


def sort_by(evidence: CoverageEvidence, total: Mapping[Region, float]) -> list[Region]:
    """Returns the suspects by their suspicion; ties by depth, then the one that was entered last."""

    def key(region: Region) -> tuple[float | int | str, ...]:
        entry = evidence.suspects[region]
        is_special = region.qualname.rpartition(".")[2].startswith("__")
        return (-round(total[region], 9), is_special, entry.depth, -entry.order, region.path, region.start)

    return sorted(evidence.suspects, key=key)
