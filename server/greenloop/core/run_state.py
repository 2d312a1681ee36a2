"""Holds what changes while a run goes on, in one place: problem, attempts, evidence, budget.

A field is assigned here, or in one other module: `attempts` by the loop, `problem` and `unmeasured` by
engine/baseline/related_trace.py, `evidence` by the verifier (tests/repository/test_architecture.py). It must not know
how any of it comes about.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from greenloop.core.budget import Ledger
from greenloop.core.deadline import Deadline
from greenloop.core.election import count_asked
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.model import Budget, Usage
from greenloop.core.records.outcome import Evidence
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region, Spec
from greenloop.core.requirements import Requirement
from greenloop_sandbox import Limits

OPENING = 5.0  # seconds for a fresh sandbox, on a busy machine
TARGET_TIMES = 15


@dataclass(frozen=True, kw_only=True)
class Baseline:
    """Results of one run of the user's own code before the first model call.

    `attempt` is attempt 0; `outcomes` are those of each case by id; `limits` are the sandbox's, widened for a target
    that is slow; `unmeasured` are related tests whose outcome is not known, because there was no time for them;
    `measurement` is what can go on with these (localize/measuring.py).
    `reasons` say why functions are suspicious, as far as that is known.
    `requirements` are what candidates have to satisfy besides passing their tests.
    `fault`: one sentence where the failure is not the code's, with its `remedy`; `passing`: there is nothing to do.
    """

    problem: Problem
    attempt: Attempt
    outcomes: Mapping[str, str]
    limits: Limits = field(default_factory=Limits)
    unmeasured: tuple[str, ...] = ()
    measurement: Any = None
    reasons: Mapping[Region, str] = field(default_factory=dict)
    requirements: tuple[Requirement, ...] = ()
    fault: str = ""
    remedy: str = ""
    passing: bool = False

    @property
    def has_result(self) -> bool:
        """Is the request over before any model is asked?"""
        return self.passing or bool(self.fault)

    @property
    def proof_seconds(self) -> float:
        """Most seconds that a result's proof should take, by the seconds of the tests here; infinite if some never ran.

        It runs the target about ten times, four of them with failures to report, and the related tests twice.
        """
        if self.unmeasured:
            return math.inf
        every = self.measurement.results.values() if self.measurement else ()
        related = sum(float(result.seconds) for result in every)
        return OPENING + TARGET_TIMES * self.attempt.verdict.seconds + 2 * related


@dataclass(kw_only=True)
class RunState:
    """The problem as it is now, what the baseline showed, the attempts so far, the evidence, the budget and the end."""

    problem: Problem
    outcomes: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    unmeasured: tuple[str, ...] = ()
    requirements: tuple[Requirement, ...] = ()
    attempts: list[Attempt] = field(default_factory=list)
    evidence: Evidence = field(default_factory=Evidence)
    ledger: Ledger = field(default_factory=lambda: Ledger(Budget()))
    deadline: Deadline = field(default_factory=Deadline)

    def start_from(self, baseline: Baseline) -> None:
        """Takes over what the baseline has shown; its attempt 0 becomes the only attempt."""
        self.problem, self.outcomes, self.limits = baseline.problem, baseline.outcomes, baseline.limits
        self.unmeasured, self.requirements = baseline.unmeasured, baseline.requirements
        self.attempts = [baseline.attempt]

    def keep_spec(self, spec: Spec) -> Problem:
        """Takes a specification that votes or the user changed; returns the problem with it."""
        self.problem = replace(self.problem, spec=spec)
        return self.problem

    def learn_outcomes(self, outcomes: Mapping[str, str]) -> Mapping[str, str]:
        """Adds outcomes with the user's own code; returns all that are known."""
        self.outcomes = {**self.outcomes, **outcomes}
        return self.outcomes

    def leave_out_related(self, cases: Collection[str]) -> None:
        """Leaves out related tests, whose ids differ in every run."""
        kept = tuple(case for case in self.problem.neighbours if case not in cases)
        self.problem = replace(self.problem, neighbours=kept)

    def go_on_from(self, attempts: Sequence[Attempt]) -> None:
        """Adds attempts of an earlier run, with what they used; the budget is what may be used beyond that."""
        used = sum((attempt.spent for attempt in attempts), Usage())
        budget = self.ledger.budget
        self.ledger.budget = replace(
            budget,
            attempts=budget.attempts + count_asked(attempts),
            tokens=budget.tokens + used.tokens,
            cost=budget.cost + (used.cost or 0.0) if budget.cost else budget.cost,
        )
        self.ledger.used += used
        self.attempts = [*self.attempts, *attempts]
