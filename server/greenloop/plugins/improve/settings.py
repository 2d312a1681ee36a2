"""Settings of `greenloop improve`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from greenloop.project.settings import setting


@dataclass(frozen=True, kw_only=True)
class ImproveSettings:
    """The least improvement, and the number of algorithms."""

    section: ClassVar[str] = "improve"

    below: float = setting(
        0.9,
        "Upper bound for the ratio of new to old time in `greenloop improve --for time`: the interval of the "
        "measured ratio must lie below it.",
        least=0.01,
        most=1,
    )
    memory: float = setting(
        0.0,
        "Weight of memory in `greenloop improve --for time`: with 0.3, the ratio of times counts with the "
        "exponent 0.7 and that of memory with 0.3.",
        least=0,
        most=0.9,
    )
    strength: float = setting(
        0.9,
        "Share of one-token changes to your code that its tests must notice if nothing else can compare it "
        "with the improved code; below that, the result is offered but not written.",
        least=0,
        most=1,
    )
    algorithms: int = setting(
        3,
        (
            "Number of algorithms that `planner.model` suggests for less time or memory; one candidate is "
            "written for each."
        ),
        least=1,
        most=8,
    )
