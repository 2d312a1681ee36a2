"""Figures of instruction tasks: how many of their limits the first and the last attempt keep.

The names are those of CodeIF (arXiv 2502.19166): completely satisfied are the task-runs in which all are kept, softly
satisfied is the mean share of those kept. An attempt whose limits were not checked, as one that cannot be read, keeps
none.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from greenloop_lab.bench.results import TaskRunResult


@dataclass(frozen=True, kw_only=True)
class LimitFigures:
    """Shares of limits kept, one for each task-run with limits, by its first and by its last attempt."""

    first: tuple[float, ...]
    last: tuple[float, ...]


def compute_limits(done: Sequence[TaskRunResult]) -> LimitFigures | None:
    """The figures of one arm; None where no task has limits."""
    counts = {each.key: max((_checked_count(row) for row in each.attempts), default=0) for each in done}
    asked = [(counts[each.key], _candidates(each)) for each in done if counts[each.key]]
    if not asked:
        return None
    return LimitFigures(
        first=tuple(_share(rows[0], count) if rows else 0.0 for count, rows in asked),
        last=tuple(_share(rows[-1], count) if rows else 0.0 for count, rows in asked),
    )


def completely(shares: Sequence[float]) -> int:
    return sum(share == 1 for share in shares)


def softly(shares: Sequence[float]) -> float:
    return statistics.fmean(shares) if shares else 0.0


def _candidates(each: TaskRunResult) -> list[Mapping[str, Any]]:
    return [row for row in each.attempts if row["number"]]


def _checked_count(row: Mapping[str, Any]) -> int:
    return int(row.get("limits", (0, 0))[1])


def _share(row: Mapping[str, Any], count: int) -> float:
    return float(row.get("limits", (0, 0))[0]) / count
