"""What a run came to: its outcome with texts, evidence and a sentence; events kept in the history on the way.

It must not know how candidates come about.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from greenloop.bed import Calibration
from greenloop.core import hardcoded, loop
from greenloop.core.compose import before_after
from greenloop.core.errors import BaselineChanged, GreenloopError, ModelProblem
from greenloop.core.events import Event, Started, Tested
from greenloop.core.gate import warnings
from greenloop.core.nouns import OWN, Attempt, Evidence, Outcome, Problem, StopReason, Usage, Verified
from greenloop.core.summary import caveat, solved, spent, trust, unsolved
from greenloop.history import History


@dataclass(kw_only=True)
class Keeping:
    """Passes events on; every attempt is in the history before anybody sees it."""

    emit: Callable[[Event], None]
    history: History | None = None
    run: int | None = None
    attempts: list[Attempt] = field(default_factory=list)

    def __call__(self, event: Event) -> None:
        if isinstance(event, Started):
            self.attempts.append(event.baseline)
        if isinstance(event, Tested):
            event.into(self.attempts)
            if self.history is not None:
                self.history.attempt(self.run, event.attempt)
        self.emit(event)


@dataclass(frozen=True, kw_only=True)
class Ending:
    """What is told of every outcome: the wall around its tests; `why` nobody was believed, or a `doubt` about whom was.

    `blind`: the loop never learnt what the tests say, so that its last candidate counts.
    """

    wall: Evidence
    why: str = ""
    doubt: str = ""
    blind: bool = False

    def judged(self, outcome: Outcome, problem: Problem, evidence: Evidence) -> Outcome:
        """Adds the result's texts, what speaks for it, and the sentence for the user."""
        if self.blind:
            outcome = replace(outcome, best=_last(outcome.attempts))
        if outcome.best is None:
            return self._walled(replace(outcome, message=outcome.message or self._unsolved(outcome, problem)))
        attempt = outcome.attempts[outcome.best]
        assert attempt.candidate is not None
        before, after = before_after(problem, attempt.candidate)
        outcome = replace(outcome, before=before, after=after)
        if not outcome.solved:
            return self._walled(replace(outcome, message=outcome.message or self._unsolved(outcome, problem)))
        doubtful = hardcoded.warnings(problem, attempt.candidate, after)
        evidence = replace(evidence, warnings=(*warnings(problem, after), *doubtful, *filter(None, [self.doubt])))
        verified = trust(evidence)
        return replace(outcome, evidence=evidence, verified=verified, message=solved(evidence, verified))

    def without_model(self, calibration: Calibration, selector: str) -> Outcome:
        """The outcome where nothing is to be done, or nothing can be."""
        outcome = Outcome(
            solved=calibration.green,
            verified=self._trusted(calibration),
            reason=StopReason.ALREADY_GREEN if calibration.green else StopReason.ENVIRONMENT,
            message=f"{selector} is already green; nothing was changed."
            if calibration.green
            else f"{calibration.fault} {calibration.remedy}".strip(),
            attempts=(calibration.baseline,),
            usage=Usage(test_seconds=calibration.baseline.verdict.seconds),
        )
        return self._walled(outcome)

    def _unsolved(self, outcome: Outcome, problem: Problem) -> str:
        best = outcome.attempts[outcome.best] if outcome.best else None
        by_heart = hardcoded.overfitted(best.verdict, problem.spec) if best else ""
        return " ".join(filter(None, (unsolved(outcome), self.why, by_heart)))

    def _walled(self, outcome: Outcome) -> Outcome:
        """An outcome without a proof names the wall all the same, and says what of it was open."""
        return replace(outcome, evidence=self.wall, message=f"{outcome.message} {caveat(self.wall)}".strip())

    def _trusted(self, calibration: Calibration) -> Verified:
        """How far the user's own code may be trusted that passes everything."""
        if not calibration.green or self.wall.sandbox == "none":
            return Verified.UNVERIFIED
        own = any(case.provenance in OWN for case in calibration.problem.spec.cases)
        return Verified.VERIFIED if own else Verified.PARTIALLY


def ended(attempts: Sequence[Attempt], reason: StopReason, message: str) -> Outcome:
    """The outcome of a run that somebody or something stopped in the middle."""
    top = loop.best(attempts)
    return Outcome(
        solved=False,
        verified=Verified.UNVERIFIED,
        reason=reason,
        message=message,
        attempts=tuple(attempts),
        best=top.number if top else None,
        usage=spent(attempts),
    )


def reason_of(error: GreenloopError) -> StopReason:
    """Why a run ended that an error ended."""
    if isinstance(error, BaselineChanged):
        return StopReason.CHANGED
    return StopReason.MODEL if isinstance(error, ModelProblem) else StopReason.ENVIRONMENT


def _last(attempts: Sequence[Attempt]) -> int | None:
    """The newest attempt that holds a candidate."""
    return next((attempt.number for attempt in reversed(attempts) if attempt.number and attempt.candidate), None)
