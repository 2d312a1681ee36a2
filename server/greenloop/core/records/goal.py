"""What code that passes its tests is to become, and how much better it was measured to be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Goal(StrEnum):
    """The goal of a run over passing code: less time, the limits of `spec.constraints`, or what a comment asks for."""

    TIME = "time"
    LIMITS = "limits"
    COMMENT = "comment"


@dataclass(frozen=True, kw_only=True)
class Workload:
    """What is run to measure or compare a candidate: selectors, and files beyond the project's own that they need."""

    selectors: tuple[str, ...]
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Improvement:
    """What a candidate has to reach besides passing its tests.

    `workload` is measured, where less than `below` of its time is asked for; `comparison` compares what the new code
    does with what the user's own does (None: nothing could be compared).
    """

    workload: Workload | None = None
    below: float = 0.9
    comparison: Workload | None = None


@dataclass(frozen=True, kw_only=True)
class Gain:
    """Seconds of the workload with the user's code and with the new one: medians, and the median of their ratios.

    `low`..`high` is an interval for that median with a confidence of at least 99 %, from this number of `pairs`.
    """

    before: float
    after: float
    ratio: float
    low: float
    high: float
    pairs: int
