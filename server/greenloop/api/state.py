"""Follows the events of a run: its problem, spec, attempts, current step and outcome.

It must not know how any of that is shown.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from greenloop.core.events import Event, Finished, Looked, Offered, Planned, Specified, Started, Tested, Token
from greenloop.core.records.attempt import Attempt, Look
from greenloop.core.records.outcome import Outcome
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Spec
from greenloop.wording.step import reading_prompt, step_after

# Prompt tokens a second of the embedded model on two idle cores; the first answer corrects it.
LOCAL_RATE = 33.0


@dataclass(eq=False, kw_only=True)
class SessionState:
    """State of a run so far.

    `started` has the first problem and the limits, and is None while the baseline is measured. `specified` has the
    current tests, `planned` the attempt under way, `looks` the model's looks for it. `status` is the current step in
    words, "" while a prompt is read. `prompt_rate` is in prompt tokens a second, measured at the first answer.
    Times are in seconds of `clock`.
    """

    started: Started | None = None
    specified: Specified | None = None
    planned: Planned | None = None
    attempts: list[Attempt] = field(default_factory=list)
    looks: list[Look] = field(default_factory=list)
    outcome: Outcome | None = None
    status: str = ""
    planned_at: float = 0.0
    first_token_at: float = 0.0
    prompt_rate: float = 0.0
    clock: Callable[[], float] = time.monotonic

    def record(self, event: Event) -> None:
        """Takes the next event of the run."""
        match event:
            case Started():
                self.started, self.attempts = event, [event.baseline]
            case Specified():
                self.specified = event
                return  # no step of its own
            case Planned():
                self.planned, self.planned_at, self.first_token_at, self.looks = event, self.clock(), 0.0, []
            case Looked():
                self.first_token_at = self.first_token_at or self.clock()  # it reads another prompt now
                self.looks.append(event.look)
            case Token() if not self.first_token_at and self.planned:
                self.first_token_at = self.clock()
                self.prompt_rate = self.planned.prompt_tokens / max(self.first_token_at - self.planned_at, 0.001)
            case Tested():
                event.record_in(self.attempts)
                self.looks = []
                if event.attempt.refused:
                    self.outcome = None
            case Offered() | Finished():
                self.outcome = event.outcome
        self.status = step_after(event)

    @property
    def problem(self) -> Problem | None:
        """The problem with its current tests; None before the run has begun to search."""
        if self.started is None or self.specified is None:
            return self.started.problem if self.started else None
        return replace(self.started.problem, spec=self.specified.spec)

    @property
    def spec(self) -> Spec | None:
        """The tests, as far as they are known."""
        return self.specified.spec if self.specified else self.started.problem.spec if self.started else None

    @property
    def number(self) -> int:
        """The number of the attempt under way, from 1."""
        return self.planned.attempt if self.planned else 1

    @property
    def limit(self) -> int:
        """The most attempts of the run; 0 before it has begun to search."""
        return self.started.attempts if self.started else 0

    @property
    def looks_by_attempt(self) -> dict[int, Sequence[Look]]:
        """The looks before each attempt that had any, with those of the one under way."""
        made: Mapping[int, Sequence[Look]] = {each.number: each.looks for each in self.attempts if each.looks}
        return {**made, self.planned.attempt: self.looks} if self.planned and self.looks else {**made}

    def describe_reading(self, *, lengths: bool = True) -> str:
        """Says how long the prompt will still be read, or (`lengths`) how long it is; "" without an attempt."""
        if self.planned is None:
            return ""
        tokens = self.planned.prompt_tokens
        rate = self.prompt_rate or (LOCAL_RATE if self.started and self.started.model == "local" else 0.0)
        left = tokens / rate - (self.clock() - self.planned_at) if rate else 0.0
        return reading_prompt(left, tokens if lengths else 0)
