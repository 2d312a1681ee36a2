"""Results of a run of tests: failures, case results and the verdict on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from greenloop_sandbox import CaseResult


class Status(StrEnum):
    """End of one execution of a candidate. `REFUSED`: rejected before the sandbox."""

    PASSED = "passed"
    FAILED = "failed"
    TIMEOUT = "timeout"
    CRASHED = "crashed"
    NOT_COLLECTED = "not-collected"
    TAMPERED = "tampered"
    ENVIRONMENT = "environment"
    REFUSED = "refused"


class ErrorGroup(StrEnum):
    """Coarse kinds of error; each may have its own feedback."""

    SYNTAX = "syntax"
    RUNTIME = "runtime"
    LOGIC = "logic"
    TIMEOUT = "timeout"
    RESOURCE = "resource"
    ENVIRONMENT = "environment"
    TAMPERING = "tampering"
    ANSWER = "answer"


@dataclass(frozen=True, kw_only=True)
class RelatedCounts:
    """Numbers of related tests: `left_out` had no time, `unaffected` cannot notice the change.

    Of those that the baseline did not get to `late_passes` pass, `late_failures` fail with the user's own code too, and
    `late_left_out` had no time again.
    """

    left_out: int = 0
    unaffected: int = 0
    late_passes: int = 0
    late_failures: int = 0
    late_left_out: int = 0

    def without(self, count: int, *, late: bool = False) -> RelatedCounts:
        """Returns the counts with `count` more tests that had no time."""
        return replace(self, left_out=self.left_out + count, late_left_out=count if late else self.late_left_out)


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The judgement on an execution: target cases and neighbours.

    `score` is passed/total of the target cases, where a scorer's 0.4 counts as 0.4 of a case; `collateral` are
    neighbours that newly fail; `flaky` are ids of neighbours that failed and passed when run again; `still_red` are
    neighbours in the target's files that failed before the change, which can affect them, and still do, and those that
    fail for the same cause and that it cannot affect; `turned_green` are neighbours that failed before it and pass.
    `related` counts other neighbours.
    `data` has, by the name of a requirement, what it found out; only the requirement itself reads and shows it.
    `reason` is one sentence where the cases do not tell everything (kill reason, tampering, missing package).
    """

    status: Status
    cases: tuple[CaseResult, ...] = ()
    collateral: tuple[CaseResult, ...] = ()
    flaky: tuple[str, ...] = ()
    still_red: tuple[str, ...] = ()
    turned_green: tuple[str, ...] = ()
    related: RelatedCounts = field(default_factory=RelatedCounts)
    reason: str = ""
    output: str = ""
    seconds: float = 0.0
    data: Mapping[str, Any] = field(default_factory=dict)

    @property
    def passed(self) -> int:
        return sum(case.passed for case in self.cases)

    @property
    def failing(self) -> list[CaseResult]:
        """Target cases and neighbours that did not pass."""
        return [case for case in (*self.cases, *self.collateral) if not case.passed]

    @property
    def total(self) -> int:
        return len(self.cases)

    @property
    def score(self) -> float:
        return sum(1.0 if case.passed else case.share for case in self.cases) / self.total if self.cases else 0.0
