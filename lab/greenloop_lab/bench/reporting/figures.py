"""Statistics of the report: intervals, paired tests, curves and matrices."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from greenloop.core.records.outcome import Verified
from greenloop_lab.bench.reporting.gains import GainFigures, compute_gains, shared_ratios
from greenloop_lab.bench.reporting.limits import LimitFigures, compute_limits
from greenloop_lab.bench.results import TaskRunResult

Z95 = 1.959963984540054
# The fields of a task-run whose means are shown.
MEANS = (
    *("calls", "looks", "prompt_tokens", "completion_tokens", "cached_tokens"),
    *("model_seconds", "test_seconds", "wall_seconds", "overhead_seconds"),
)
# The fate of the first attempt's error.
FIXED, SAME, OTHER, REGRESSED = "fixed", "same", "other", "regressed"
ENDS = (FIXED, SAME, OTHER, REGRESSED)


def wilson(good: int, count: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson 1927); (0, 1) for a count of 0."""
    if not count:
        return 0.0, 1.0
    share, z2 = good / count, Z95**2
    middle = (share + z2 / (2 * count)) / (1 + z2 / count)
    half = Z95 * math.sqrt(share * (1 - share) / count + z2 / (4 * count**2)) / (1 + z2 / count)
    return max(0.0, middle - half), min(1.0, middle + half)


def mcnemar(only_one: int, only_other: int) -> float:
    """The exact two-sided p-value for the discordant pairs (McNemar 1947, binomial)."""
    count = only_one + only_other
    if not count:
        return 1.0
    tail = sum(math.comb(count, k) for k in range(min(only_one, only_other) + 1))
    return min(1.0, tail / 2.0 ** (count - 1))


@dataclass(frozen=True, kw_only=True)
class Figures:
    """The figures of one arm. `first_right`, `last_right`: task-runs whose first or last candidate is right.

    Attempts are candidates that a model was asked for; `curve[k]`: solved within k of them. `means` are per task-run.
    `overfit` task-runs passed the shown tests but not the judging ones; `gained` and `lost` are steps from a wrong
    parent to a right attempt and back; `matrix` is by error class of the first attempt; `refused` and `refused_right`
    candidates never ran; `groups` have (solved, count) by kind of task and by mutation operator.
    `located`: task-runs in which a model was asked about a function that the solution changes (None: no task says);
    `verified`: solved ones whose result was fully verified. `changed_lines`: the median of the right ones.
    `gains`: None for runs without a goal, `limits`: None for tasks without limits.
    """

    arm: str
    model: str
    count: int
    broken: int
    solved: int
    interval: tuple[float, float]
    shown: int
    overfit: int
    first_right: int
    last_right: int
    curve: tuple[int, ...]
    histogram: Mapping[int, int]
    mean_attempts: float | None
    means: Mapping[str, float]
    changed_lines: float | None
    confidence: float | None
    gained: int
    lost: int
    matrix: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    refused: int = 0
    refused_right: int = 0
    groups: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    ends: Mapping[str, int] = field(default_factory=dict)
    located: int | None = None
    verified: int = 0
    repeats: tuple[int, ...] = ()
    gains: GainFigures | None = None
    limits: LimitFigures | None = None

    @property
    def share(self) -> float:
        return self.solved / self.count if self.count else 0.0

    @property
    def mean_tokens(self) -> float:
        return self.means["prompt_tokens"] + self.means["completion_tokens"]

    @property
    def deviation(self) -> float | None:
        """The standard deviation of the share solved over repeats; None for one repeat."""
        size = self.count / len(self.repeats) if self.repeats else 0
        return statistics.stdev(solved / size for solved in self.repeats) if len(self.repeats) > 1 and size else None


def compute_figures(done: Sequence[TaskRunResult], broken_reasons: frozenset[str]) -> list[Figures]:
    """Figures of each arm, in the order of their first task-runs. Those with one of `broken_reasons` do not count."""
    arms = dict.fromkeys(each.run["arm"] for each in done)
    return [_arm_figures(arm, [each for each in done if each.run["arm"] == arm], broken_reasons) for arm in arms]


def _arm_figures(arm: str, task_runs: Sequence[TaskRunResult], broken_reasons: frozenset[str]) -> Figures:
    done = [each for each in task_runs if each.run["reason"] not in broken_reasons]
    runs = [each.run for each in done]
    solved = [run for run in runs if run["right"]]
    attempts_needed = [run["at"] for run in solved]
    longest = max([run["attempts"] for run in runs], default=0)
    refused = [row for each in done for row in each.attempts if row["number"] and row.get("status") == "refused"]
    steps = [step for each in done for step in transitions(each)]
    lines = [run["changed_lines"] for run in solved if "changed_lines" in run]
    confidences = [run["confidence"] for run in runs if run["confidence"] is not None]

    return Figures(
        arm=arm,
        model=", ".join(dict.fromkeys(run["model"] for run in runs)),
        count=len(runs),
        broken=len(task_runs) - len(done),
        solved=len(solved),
        interval=wilson(len(solved), len(runs)),
        shown=sum(run["shown_passed"] for run in runs),
        overfit=sum(run["shown_passed"] and not run["right"] for run in runs),
        first_right=sum(is_right(each, 1) for each in done),
        last_right=sum(is_right(each, each.run["candidates"]) for each in done),
        curve=tuple(sum(n <= k for n in attempts_needed) for k in range(longest + 1)),
        histogram=dict(sorted(Counter(run["attempts"] for run in runs).items())),
        mean_attempts=statistics.fmean(run["attempts"] for run in solved) if solved else None,
        means={name: statistics.fmean(run.get(name, 0) for run in runs) if runs else 0.0 for name in MEANS},
        changed_lines=statistics.median(lines) if lines else None,
        confidence=statistics.fmean(confidences) if confidences else None,
        gained=steps.count((False, True)),
        lost=steps.count((True, False)),
        matrix=_matrix(done),
        refused=len(refused),
        refused_right=sum(bool(row["right"]) for row in refused),
        groups=_groups(runs),
        located=_count_located(runs),
        verified=sum(run["right"] and run.get("verified") == Verified.VERIFIED.value for run in runs),
        gains=compute_gains(done),
        limits=compute_limits(done),
        ends=dict(Counter(_end_reason(run) for run in runs).most_common()),
        repeats=tuple(
            sum(run["right"] for run in runs if run["repeat"] == n) for n in sorted({run["repeat"] for run in runs})
        ),
    )


def _count_located(runs: Sequence[Mapping[str, Any]]) -> int | None:
    # A run that a one-token change solved before any model call has no value; results of earlier versions neither.
    values = [run["asked_right"] for run in runs if run.get("asked_right") is not None]
    return sum(values) if values else None


def is_right(each: TaskRunResult, number: int) -> bool:
    """True if the judge found the attempt right that has this number."""
    return any(row["number"] == number and row["right"] for row in each.attempts) if number else False


def transitions(each: TaskRunResult) -> list[tuple[bool, bool]]:
    """(parent right, attempt right) for each attempt whose parent is a model's attempt, as CoCoS counts."""
    right = {row["number"]: bool(row["right"]) for row in each.attempts if row["number"]}
    return [(right[row["parent"]], right[row["number"]]) for row in each.attempts if row["parent"] in right]


def _matrix(done: Sequence[TaskRunResult]) -> dict[str, dict[str, int]]:
    """The fates of the first attempt's error, by its error class."""
    matrix: dict[str, dict[str, int]] = {}
    for each in done:
        rows = {row["number"]: row for row in each.attempts}
        if 1 not in rows:
            continue
        first_row = rows[1]
        row = matrix.setdefault(
            first_row["error_class"] or ("right" if first_row["right"] else "over-fit"), dict.fromkeys(ENDS, 0)
        )
        row[_fate(first_row, rows[max(rows)], each)] += 1
    return dict(sorted(matrix.items(), key=lambda item: -sum(item[1].values())))


def _fate(first: Mapping[str, Any], last: Mapping[str, Any], each: TaskRunResult) -> str:
    if each.run["right"]:
        return FIXED
    if first["right"]:
        return REGRESSED
    return SAME if last["error_class"] == first["error_class"] else OTHER


def _groups(runs: Sequence[Mapping[str, Any]]) -> dict[str, tuple[int, int]]:
    """(solved, count) by kind and by operator; a mutant of two lines counts for each of its operators."""
    groups: dict[str, list[bool]] = {}
    for name in ("kind", "operator"):
        for run in runs:
            for each in [run["task_kind"]] if name == "kind" else dict.fromkeys(run["operators"]):
                groups.setdefault(f"{name}: {each}", []).append(run["right"])
    return {name: (sum(right), len(right)) for name, right in sorted(groups.items())}


def _end_reason(run: Mapping[str, Any]) -> str:
    if run["right"]:
        return "solved"
    return "over-fit" if run["shown_passed"] else str(run["reason"])


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Compares two arms on the task-runs that both have; `ratios` are those of runs with a goal, right in both."""

    one: str
    other: str
    count: int
    only_one: int
    only_other: int
    both: int = 0
    ratios: Sequence[tuple[float, float]] = ()

    @property
    def neither(self) -> int:
        return self.count - self.both - self.only_one - self.only_other

    @property
    def p(self) -> float:
        return mcnemar(self.only_one, self.only_other)


def compare_pairs(done: Sequence[TaskRunResult], broken_reasons: frozenset[str]) -> list[Pair]:
    """Compares every arm with every later one."""
    arms: dict[str, list[TaskRunResult]] = {}
    for each in done:
        if each.run["reason"] not in broken_reasons:
            arms.setdefault(each.run["arm"], []).append(each)
    return [_pair(one, other, arms) for one, other in combinations(arms, 2)]


def _pair(one: str, other: str, arms: Mapping[str, Sequence[TaskRunResult]]) -> Pair:
    first, second = ({each.key[1:]: each.run for each in arms[arm]} for arm in (one, other))
    shared = [(run["right"], second[key]["right"]) for key, run in first.items() if key in second]
    has_goal = all(run.get("goal") for run in (*first.values(), *second.values()))
    return Pair(
        one=one,
        other=other,
        count=len(shared),
        only_one=shared.count((True, False)),
        only_other=shared.count((False, True)),
        both=shared.count((True, True)),
        ratios=shared_ratios(arms[one], arms[other]) if has_goal else (),
    )
