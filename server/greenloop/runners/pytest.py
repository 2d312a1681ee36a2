"""pytest (functions, classes, unittest cases, doctest examples): its records as results. Pure; runs nothing."""

from __future__ import annotations

from collections.abc import Mapping

from greenloop.core import records
from greenloop.core.nouns import CaseResult, Execution
from greenloop.core.records import Collected, CollectError, Reach

__all__ = ["CollectError", "Collected", "Reach", "collect_errors", "collected", "parse", "reached"]


def parse(execution: Execution) -> tuple[CaseResult, ...]:
    """One result for each case that was collected or begun, in running order; what never ran is `missing`."""
    return records.results(execution)


def collected(execution: Execution) -> tuple[Collected, ...]:
    """The collected cases (id, path, 1-based line) in running order."""
    return records.collected(execution)


def collect_errors(execution: Execution) -> tuple[CollectError, ...]:
    """What could not be collected, and why."""
    return records.collect_errors(execution)


def reached(execution: Execution) -> Mapping[str, tuple[Reach, ...]]:
    """By case id, the workspace functions it reached (nearest first); only of runs with `trace`."""
    return records.reached(execution)
