"""As `skeleton`, in the order of the text instead of that of the calls; for comparisons."""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.records.attempt import Attempt, Draft
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region
from greenloop_lab.drafting.search.skeleton import plan_filling


def plan(problem: Problem, attempts: Sequence[Attempt]) -> Sequence[Draft]:
    """The next function of the first file; where only one is to be written, or they are written, as `ladder`."""
    return plan_filling(problem, attempts, order=_by_line)


def _by_line(regions: Sequence[Region]) -> Sequence[Region]:
    return sorted(regions, key=lambda region: (region.path, region.start))
