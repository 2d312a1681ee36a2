"""Computes the charts: shares solved by attempts, tokens and seconds, and the errors of each attempt.

It computes from the records alone, and must not know how anything is drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from greenloop.core.election import WITHOUT_MODEL
from greenloop.core.records.verdict import ErrorGroup
from greenloop_lab.bench.results import TaskRunResult

# Outcomes of an attempt that are not groups of errors: right, wrong though the shown tests pass, and no group.
RIGHT, OVERFIT, UNNAMED = "right", "over-fit", "other"
OUTCOMES = (RIGHT, OVERFIT, *ErrorGroup, UNNAMED)
# Attempts that have a column of their own; of later ones, several share a column.
SINGLE_COLUMNS, SHARED_COLUMNS = 6, (10, 20, 40)


@dataclass(frozen=True, kw_only=True)
class Curve:
    """Number of an arm's `count` task-runs solved at a cost of at most x: `points` are (x, solved), rising.

    The last point is the largest cost of any task-run, solved or not.
    """

    arm: str
    count: int
    points: tuple[tuple[float, int], ...]

    def solved_at(self, cost: float) -> int:
        return max((solved for x, solved in self.points if x <= cost), default=0)


@dataclass(frozen=True, kw_only=True)
class ErrorMatrix:
    """Number of an arm's attempts with each outcome: `rows[outcome]` has one number for each column of attempts."""

    arm: str
    columns: tuple[str, ...]
    rows: Mapping[str, tuple[int, ...]]


def tokens_of(run: Mapping[str, Any]) -> float:
    return float(run["prompt_tokens"] + run["completion_tokens"])


def seconds_of(run: Mapping[str, Any]) -> float:
    return float(run["wall_seconds"])


def compute_curves(
    done: Sequence[TaskRunResult], broken_reasons: frozenset[str], cost_of: Callable[[Mapping[str, Any]], float]
) -> list[Curve]:
    """The curve of each arm over a cost of whole task-runs, such as `tokens_of`."""
    return [_curve(arm, [each.run for each in runs], cost_of) for arm, runs in by_arm(done, broken_reasons).items()]


def _curve(arm: str, runs: Sequence[Mapping[str, Any]], cost_of: Callable[[Mapping[str, Any]], float]) -> Curve:
    solved = Counter(cost_of(run) for run in runs if run["right"])
    points = [(0.0, 0)]
    for cost in sorted(solved):
        points.append((cost, points[-1][1] + solved[cost]))
    longest = max(map(cost_of, runs), default=0.0)
    return Curve(arm=arm, count=len(runs), points=(*points, (longest, points[-1][1])))


def compute_error_matrices(done: Sequence[TaskRunResult], broken_reasons: frozenset[str]) -> list[ErrorMatrix]:
    """The matrix of each arm; attempts without a model are left out, as in the other figures."""
    return [_error_matrix(arm, runs) for arm, runs in by_arm(done, broken_reasons).items()]


def _error_matrix(arm: str, runs: Sequence[TaskRunResult]) -> ErrorMatrix:
    outcomes = [[_outcome(row) for row in each.attempts if _is_asked(row)] for each in runs]
    bounds = _column_bounds(max(map(len, outcomes), default=0))
    counts = Counter(
        (outcome, next(bound for bound in bounds if number <= bound[1]))
        for each in outcomes
        for number, outcome in enumerate(each, 1)
    )
    names = [name for name in OUTCOMES if any(counts[name, bound] for bound in bounds)]
    return ErrorMatrix(
        arm=arm,
        columns=tuple(str(low) if low == high else f"{low}-{high}" for low, high in bounds),
        rows={str(name): tuple(counts[name, bound] for bound in bounds) for name in names},
    )


def _column_bounds(longest: int) -> list[tuple[int, int]]:
    """The first and last attempt of each column."""
    bounds = [(number, number) for number in range(1, min(longest, SINGLE_COLUMNS) + 1)]
    low = SINGLE_COLUMNS + 1
    for high in (*SHARED_COLUMNS, longest):
        if low <= longest:
            bounds.append((low, min(high, longest)))
            low = high + 1
    return bounds


def _is_asked(row: Mapping[str, Any]) -> bool:
    return bool(row["number"]) and row.get("move") not in WITHOUT_MODEL


def _outcome(row: Mapping[str, Any]) -> str:
    if row["right"]:
        return RIGHT
    if not row["error_class"]:
        return OVERFIT
    return row.get("group") or UNNAMED


def by_arm(done: Sequence[TaskRunResult], broken_reasons: frozenset[str]) -> dict[str, list[TaskRunResult]]:
    """The task-runs that count, by arm, in the order of the arms' first task-runs."""
    arms: dict[str, list[TaskRunResult]] = {}
    for each in done:
        runs = arms.setdefault(each.run["arm"], [])
        if each.run["reason"] not in broken_reasons:
            runs.append(each)
    return arms
