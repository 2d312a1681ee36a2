"""Resources: budgets, usage, and the estimate before a run."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Budget:
    """Limits of one run, each of which ends it, beside its time (core/deadline.py); `cost` is in US dollars.

    `attempts` counts model candidates, `unreadable` consecutive answers without a candidate.
    """

    attempts: int = 5
    tokens: int = 50_000
    cost: float | None = None
    unreadable: int = 3


@dataclass(frozen=True, kw_only=True)
class Room:
    """Budget of a run for more answers: tokens and seconds, and the slots of its model (requests at once; 0: none)."""

    slots: int = 1
    tokens: float = math.inf
    seconds: float = math.inf


@dataclass(frozen=True, kw_only=True)
class Usage:
    """The resources used: tokens, US dollars (None: price unknown) and seconds.

    `cached_tokens` are prompt tokens that the model did not read again; they are included in `prompt_tokens`.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = 0.0
    model_seconds: float = 0.0
    test_seconds: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        is_cost_known = self.cost is not None and other.cost is not None
        return Usage(
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            cost=(self.cost or 0.0) + (other.cost or 0.0) if is_cost_known else None,
            model_seconds=self.model_seconds + other.model_seconds,
            test_seconds=self.test_seconds + other.test_seconds,
        )

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True)
class Quantiles:
    """The range of four in five similar values (`low` to `high`), and their median."""

    low: float
    likely: float
    high: float


@dataclass(frozen=True, kw_only=True)
class PastRun:
    """The usage of a finished run. `prompt`: tokens of its first prompt; `cost` in US dollars, None: unknown."""

    prompt_tokens: int
    tokens: int
    seconds: float
    cost: float | None
    solved: bool


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """The expected usage of a whole run: tokens, seconds and US dollars (None: unknown).

    Based on `runs` similar runs, of which `solved` were solved (None: too few to say).
    """

    prompt_tokens: int
    tokens: Quantiles
    seconds: Quantiles | None = None
    cost: Quantiles | None = None
    runs: int = 0
    solved: int | None = None
