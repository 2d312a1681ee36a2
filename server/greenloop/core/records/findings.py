"""Findings about a failure when a model is first asked about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region
from greenloop_sandbox import CaseResult
from greenloop_sandbox.report.inspections import InspectedFailure

NAMESAKE = "the test is named after it"  # why a function is related


@dataclass(frozen=True, kw_only=True)
class Findings:
    """Findings about a failure when the question about it is sent.

    `cases` are the results of the target's cases; `inspected` describes some of them. `siblings` are other tests of the
    file that fail for the same cause, `others` the rest of its failing tests. `reasons` say why a function is
    suspicious. `nearest` are the innermost functions of tracebacks; `related` are functions that are no suspects, with
    a reason for each. `versions` is a sentence.
    """

    problem: Problem
    cases: Sequence[CaseResult]
    inspected: Mapping[str, InspectedFailure] = field(default_factory=dict)
    siblings: Sequence[CaseResult] = ()
    others: Sequence[CaseResult] = ()
    reasons: Mapping[Region, str] = field(default_factory=dict)
    nearest: tuple[Region, ...] = ()
    related: Mapping[Region, str] = field(default_factory=dict)
    versions: str = ""

    @property
    def failing(self) -> list[CaseResult]:
        return [case for case in self.cases if not case.passed]

    @property
    def suspects(self) -> tuple[Region, ...]:
        """Existing regions that may be at fault, most suspicious first."""
        return tuple(each for each in (*self.problem.regions, *self.problem.suspects) if not each.created)
