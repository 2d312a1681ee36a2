"""Records of a goal: the workload to measure, the aim, and the gain that was measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from greenloop.plugins.improve.aims import Goal


@dataclass(frozen=True, kw_only=True)
class Workload:
    """Tests that measure or compare a candidate: selectors, and files beyond the project's own that they need.

    `calls` are the user's: test number N, from 1, makes the Nth of them. `repeats`: how often all of it is repeated in
    some of the measured runs, in the same process.
    """

    selectors: tuple[str, ...]
    calls: tuple[str, ...] = ()
    repeats: int = 0
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Improvement:
    """Requirements for a candidate besides passing its tests.

    `workload` is measured, where less than `below` of its time (or memory, by `goal`) is asked for. `comparison`
    compares what the new code does with what the user's own does (None: nothing could be compared). `memory` is the
    share of memory in what is measured where the goal is time.
    """

    goal: Goal
    workload: Workload | None = None
    below: float = 0.9
    memory: float = 0.0
    comparison: Workload | None = None


@dataclass(frozen=True, kw_only=True)
class ProfiledLine:
    """A line of a profiled function with its text, how often it ran, and its cost under the profiler.

    The cost is in seconds, with what the line calls, or in bytes that were in use beyond those at its beginning.
    """

    line: int
    text: str
    times: int
    cost: float


@dataclass(frozen=True, kw_only=True)
class Gain:
    """Cost of the workload with the user's code and with the new one: medians, and the median of their ratios.

    `goal` tells the unit: seconds, or bytes at the moment when the most were in use.
    `low`..`high` is an interval for that median with a confidence of at least 99 %, from this number of `pairs`.
    `repeated_before` and `repeated_after` are the seconds of calls that are repeated in one process, or 0.
    `refused` is why the gain is not believed whatever its interval, or "".
    `bytes_before` and `bytes_after` are the memory where that has a share in the ratio of times, else 0.
    `lines_before` and `lines_after` are the lines of the function that cost most, in both texts, of an accepted change.
    """

    goal: Goal
    before: float
    after: float
    ratio: float
    low: float
    high: float
    pairs: int
    repeated_before: float = 0.0
    repeated_after: float = 0.0
    refused: str = ""
    bytes_before: float = 0.0
    bytes_after: float = 0.0
    lines_before: tuple[ProfiledLine, ...] = ()
    lines_after: tuple[ProfiledLine, ...] = ()
