"""Builds the outcome of a run: its texts, its evidence, and a sentence for the user.

It must not know how candidates are made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from greenloop.core.compose import before_after
from greenloop.core.election import best_attempt
from greenloop.core.errors import BaselineChangedError, GreenloopError, ModelError
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.model import Usage
from greenloop.core.records.outcome import Evidence, Outcome, StopReason, Verified
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import USER_PROVENANCES
from greenloop.core.run_state import Baseline, RunState
from greenloop.core.summary import total_usage, verification_level
from greenloop.drafting.candidates.checks import hardcoding
from greenloop.drafting.candidates.checks.risky_calls import warnings
from greenloop.engine.conversations import Withdrawn
from greenloop.wording.notes import describe_withdrawn
from greenloop.wording.outcome import describe_unasked, isolation_caveat, summarize_solved, summarize_unsolved


@dataclass(frozen=True, kw_only=True)
class OutcomeBuilder:
    """Completes outcomes. `sandbox` has its name and network; `why` says why no candidate was accepted.

    `doubt` is a reservation about an accepted one. `blind`: the loop saw no test results, so its last candidate counts.
    """

    sandbox: Evidence
    why: str = ""
    doubt: str = ""
    blind: bool = False

    def complete(self, outcome: Outcome, state: RunState) -> Outcome:
        """Adds the result's texts, its evidence, and the sentence for the user."""
        problem, evidence = state.problem, state.evidence
        if self.blind:
            newest = (each.number for each in reversed(outcome.attempts) if each.number and each.candidate)
            outcome = replace(outcome, best=next(newest, None))
        if outcome.best is None:
            return self._without_proof(outcome, problem)
        attempt = outcome.attempts[outcome.best]
        assert attempt.candidate is not None
        before, after = before_after(problem, attempt.candidate)
        outcome = replace(outcome, before=before, after=after)
        if not outcome.solved:
            return self._without_proof(outcome, problem)
        hardcoding_warnings = hardcoding.warnings(problem, attempt.candidate, after)
        doubts = filter(None, [self.doubt])
        found = (*warnings(problem, after), *hardcoding_warnings, *doubts)
        evidence = replace(evidence, warnings=found)
        verified = verification_level(evidence)
        message = " ".join(filter(None, [summarize_solved(evidence, verified), describe_unasked(outcome)]))
        return replace(outcome, evidence=evidence, verified=verified, message=message)

    def without_model(self, baseline: Baseline, selector: str) -> Outcome:
        """Builds the outcome of a target that already passes or that the environment breaks."""
        outcome = Outcome(
            solved=baseline.passing,
            verified=self._trust_level(baseline),
            reason=StopReason.ALREADY_GREEN if baseline.passing else StopReason.ENVIRONMENT,
            message=f"{selector} already passes; nothing was changed."
            if baseline.passing
            else f"{baseline.fault} {baseline.remedy}".strip(),
            attempts=(baseline.attempt,),
            usage=Usage(test_seconds=baseline.attempt.verdict.seconds),
        )
        return self._without_proof(outcome, baseline.problem)

    def _describe_unsolved(self, outcome: Outcome, problem: Problem) -> str:
        best = outcome.attempts[outcome.best] if outcome.best else None
        overfitting = hardcoding.overfitting_warning(best.verdict, problem.spec) if best else ""
        return " ".join(filter(None, (summarize_unsolved(outcome), self.why, overfitting)))

    def _without_proof(self, outcome: Outcome, problem: Problem) -> Outcome:
        """Names the sandbox in an outcome without a proof, and warns where its isolation was incomplete."""
        message = outcome.message or self._describe_unsolved(outcome, problem)
        return replace(outcome, evidence=self.sandbox, message=f"{message} {isolation_caveat(self.sandbox)}".strip())

    def _trust_level(self, baseline: Baseline) -> Verified:
        """Returns the verification level of the user's own code when it passes everything."""
        if not baseline.passing or self.sandbox.sandbox == "none":
            return Verified.UNVERIFIED
        has_user_tests = any(case.provenance in USER_PROVENANCES for case in baseline.problem.spec.cases)
        return Verified.VERIFIED if has_user_tests else Verified.PARTIALLY


def with_withdrawn(outcome: Outcome, question: Withdrawn) -> Outcome:
    """Adds what a question used that was sent ahead and whose answer was not needed."""
    used = question.billed + question.pending
    message = f"{outcome.message} {describe_withdrawn(used)}".strip()
    return replace(outcome, usage=outcome.usage + question.pending, withdrawn=used, message=message)


def build_stopped(attempts: Sequence[Attempt], reason: StopReason, message: str) -> Outcome:
    """Builds the outcome of a run that the user or an error stopped midway."""
    best = best_attempt(attempts)
    return Outcome(
        solved=False,
        verified=Verified.UNVERIFIED,
        reason=reason,
        message=message,
        attempts=tuple(attempts),
        best=best.number if best else None,
        usage=total_usage(attempts),
    )


def stop_reason(error: GreenloopError) -> StopReason:
    """Returns the stop reason of a run that this error ended."""
    if isinstance(error, BaselineChangedError):
        return StopReason.CHANGED
    return StopReason.MODEL if isinstance(error, ModelError) else StopReason.ENVIRONMENT
