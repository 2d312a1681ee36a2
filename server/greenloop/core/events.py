"""The events of a run, as a closed union; presenters are functions of these.

Every event is frozen and holds records only, so that it can be shown, stored or sent.
"""

from __future__ import annotations

from dataclasses import dataclass

from greenloop.core.records.attempt import Attempt, Draft, Look
from greenloop.core.records.model import Estimate, ModelKind, Usage
from greenloop.core.records.outcome import Outcome
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Spec


@dataclass(frozen=True, kw_only=True)
class Started:
    """The baseline is known, the first model call is next. `baseline` is attempt 0; `estimate` is for the whole run.

    `kind` is the model's (None: not known). `run` is its number in the history; None where that cannot be written.
    """

    problem: Problem
    baseline: Attempt
    model: str
    preset: str
    sandbox: str
    attempts: int
    kind: ModelKind | None = None
    estimate: Estimate | None = None
    run: int | None = None


@dataclass(frozen=True, kw_only=True)
class Specified:
    """The spec is frozen: its cases with their provenance, and its doubts.

    Comes before any candidate where tests were written for a docstring, and again whenever votes or answers of the user
    changed which of them count; `said` then says why.
    """

    spec: Spec
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Planned:
    """Search decided what to try; the prompt is sent now."""

    attempt: int
    draft: Draft
    model: str
    prompt_tokens: int


@dataclass(frozen=True, kw_only=True)
class Token:
    """A piece of the model's answer arrived; `count` tokens so far."""

    attempt: int
    text: str
    count: int


@dataclass(frozen=True, kw_only=True)
class Looked:
    """The model has looked at the project before its answer."""

    attempt: int
    look: Look


@dataclass(frozen=True, kw_only=True)
class Proposed:
    """The model answered."""

    attempt: int
    answer: str
    usage: Usage


@dataclass(frozen=True, kw_only=True)
class Checked:
    """The answer was parsed and went through the static gate; `error_class` is empty when it goes to the sandbox."""

    attempt: int
    error_class: str
    message: str


@dataclass(frozen=True, kw_only=True)
class Tested:
    """The attempt is complete: it has its verdict, error class and usage.

    Comes again for an attempt that an election judges anew.
    """

    attempt: Attempt

    def record_in(self, attempts: list[Attempt]) -> None:
        """Appends the attempt, or replaces an earlier version of it."""
        attempts[self.attempt.number : self.attempt.number + 1] = [self.attempt]


@dataclass(frozen=True, kw_only=True)
class Offered:
    """There is a result whose label may still rise: related tests go on. A `Tested` that refuses it takes it back."""

    outcome: Outcome


@dataclass(frozen=True, kw_only=True)
class Finished:
    outcome: Outcome


Event = Started | Specified | Planned | Token | Looked | Proposed | Checked | Tested | Offered | Finished
