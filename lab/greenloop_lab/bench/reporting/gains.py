"""Figures of runs with a goal: how many results are better, and by how much.

The definitions are those of PIE (Learning Performance-Improving Code Edits, arXiv 2302.07867): %Opt is the share of
programs at least 10 % faster and right, and a program that is wrong or not faster has a speed-up of 1, since the user
keeps their own code. EffiLearner (arXiv 2405.15189) compares two arms on the programs that are right in both.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from greenloop_lab.bench.results import TaskRunResult

OPTIMIZED, DOUBLED = 0.9, 0.5  # ratios, new to old


@dataclass(frozen=True, kw_only=True)
class GainFigures:
    """The figures of one arm: `right`, `optimized` and `doubled` are task-runs out of `count`.

    `right`: the result, or without one the last candidate, passes the hidden tests; `optimized` and `doubled`: right,
    and at least 10 % and 50 % less was measured. `speedups` are old to new, 1 where nothing was improved.
    `measuring`: seconds in the sandbox for each second that the user's own workload takes (None: nothing was improved).
    """

    count: int
    right: int
    optimized: int
    doubled: int
    speedups: tuple[float, ...]
    measuring: float | None = None

    @property
    def mean(self) -> float:
        return statistics.fmean(self.speedups) if self.speedups else 1.0

    @property
    def geometric_mean(self) -> float:
        return statistics.geometric_mean(self.speedups) if self.speedups else 1.0


def compute_gains(done: Sequence[TaskRunResult]) -> GainFigures | None:
    """The figures of finished task-runs of one arm; None for runs without a goal."""
    if not any(each.run.get("goal") for each in done):
        return None
    ratios = [ratio(each.run) for each in done]
    costs = [
        each.run["test_seconds"] / each.run["gain"]["before"]
        for each in done
        if each.run["gain"] and each.run["goal"] == "time"
    ]
    return GainFigures(
        count=len(done),
        right=sum(is_right(each) for each in done),
        optimized=sum(each <= OPTIMIZED for each in ratios),
        doubled=sum(each <= DOUBLED for each in ratios),
        speedups=tuple(1 / each for each in ratios),
        measuring=statistics.median(costs) if costs else None,
    )


def ratio(run: Mapping[str, Any]) -> float:
    """Returns the new cost as a share of the cost before; 1 where the user gets no right improvement."""
    # A ratio of nothing is one that cannot be measured.
    return max(run["gain"]["ratio"], 1e-6) if run["right"] and run.get("gain") else 1.0


def is_right(each: TaskRunResult) -> bool:
    """Does the result, or without one the last candidate, pass the hidden tests?"""
    last = max((row for row in each.attempts if row["number"]), key=lambda row: row["number"], default=None)
    return bool(each.run["right"] or (last is not None and not each.run["shown_passed"] and last["right"]))


def shared_ratios(one: Sequence[TaskRunResult], other: Sequence[TaskRunResult]) -> list[tuple[float, float]]:
    """The ratios of both arms for the tasks and repeats in which both are right."""
    others = {each.key[1:]: each for each in other if is_right(each)}
    mine = [each for each in one if is_right(each) and each.key[1:] in others]
    return [(ratio(each.run), ratio(others[each.key[1:]].run)) for each in mine]
