"""What happens during a run, as a closed union; presenters are functions of these.

Every event is frozen and holds nouns only, so that it can be shown, stored or sent.
"""

from __future__ import annotations

from dataclasses import dataclass

from greenloop.core.nouns import Attempt, Draft, Estimate, Outcome, Problem, Spec, Usage


@dataclass(frozen=True, kw_only=True)
class Started:
    """The baseline is known, the first model call is next. `baseline` is attempt 0; `estimate` says what is to come."""

    problem: Problem
    baseline: Attempt
    model: str
    preset: str
    sandbox: str
    attempts: int
    estimate: Estimate | None = None


@dataclass(frozen=True, kw_only=True)
class Specified:
    """What must hold is frozen: its cases with where each comes from, and what is in doubt.

    It comes before any candidate where tests were written for a docstring, and again whenever votes or answers of the
    user changed which of them are believed; `said` then tells why.
    """

    spec: Spec
    said: str = ""


@dataclass(frozen=True, kw_only=True)
class Planned:
    """Search decided what to try; the prompt goes out now."""

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
class Proposed:
    """The model answered."""

    attempt: int
    answer: str
    usage: Usage


@dataclass(frozen=True, kw_only=True)
class Checked:
    """The answer was read and went through the static gate; `error_class` is empty when it goes to the sandbox."""

    attempt: int
    error_class: str
    message: str


@dataclass(frozen=True, kw_only=True)
class Tested:
    """The attempt is complete: verdict, error class and usage stand in it.

    It is told once more where an election judges it anew.
    """

    attempt: Attempt

    def into(self, attempts: list[Attempt]) -> None:
        """Puts it in its place among the attempts told so far."""
        attempts[self.attempt.number : self.attempt.number + 1] = [self.attempt]


@dataclass(frozen=True, kw_only=True)
class Finished:
    outcome: Outcome


Event = Started | Specified | Planned | Token | Proposed | Checked | Tested | Finished
