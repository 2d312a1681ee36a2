"""Requests to a model, and its reply."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Role(StrEnum):
    """The role of a model in a run; each role may have its own model."""

    DRAFTER = "drafter"
    REFINER = "refiner"
    CRITIC = "critic"
    TESTER = "tester"
    PLANNER = "planner"
    RANKER = "ranker"


NO_MODEL = "none"  # the name of the model that answers nothing


class ModelKind(StrEnum):
    """Ability of a model: `SMALL` ones get a ladder of small questions, `CAPABLE` ones a conversation."""

    SMALL = "small"
    CAPABLE = "capable"


@dataclass(frozen=True, kw_only=True)
class ToolSpec:
    """A function that a model may call; `parameters` is the JSON Schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Any] = field(hash=False)


@dataclass(frozen=True, kw_only=True)
class ToolCall:
    """A model's call of a function; `arguments` is the JSON text that it wrote, which may be malformed.

    `extra` is data of the provider that has to go back with the call (signatures of its thinking), and has no meaning
    here.
    """

    id: str
    name: str
    arguments: str
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, kw_only=True)
class Message:
    """One chat message; `role` is system, user, assistant or tool.

    An assistant's message may have `calls`; a message of the role tool is the result of the call `call_id`.
    `extra` is data of the provider that has to go back with an assistant's message.
    """

    role: str
    content: str
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, kw_only=True)
class ChatRequest:
    """A chat request to a model. `role` tells scripted and replayed models which answer is due.

    `tools` are functions that it may call. `patience`: seconds that it may wait for a provider that is overloaded or
    limits the rate of requests (None: as long as the settings allow).
    """

    messages: tuple[Message, ...]
    role: Role = Role.DRAFTER
    temperature: float = 0.0
    max_tokens: int = 1024
    seed: int | None = None
    stop: tuple[str, ...] = ()
    frequency_penalty: float = 0.0
    tools: tuple[ToolSpec, ...] = ()
    patience: float | None = None


@dataclass(frozen=True, kw_only=True)
class InfillRequest:
    """A request to a model's fill-in-the-middle mode: the text between `prefix` and `suffix`.

    `lines`: the most lines of it; `is_statement`: those after the first are the block that the first one opens.
    `avoid`: the text that is not wanted, because it stood there; `fillings`: how many different ones are wanted. A
    model that cannot tell its next best fillings ignores both.
    """

    prefix: str
    suffix: str
    lines: int = 1
    is_statement: bool = False
    avoid: str = ""
    fillings: int = 1
    role: Role = Role.REFINER
    temperature: float = 0.0
    max_tokens: int = 64
    seed: int | None = None
    stop: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Reply:
    """A model's answer; `finish` is stop, length, or copy where it was stopped because it repeated what it was shown.

    `others` are its next best answers, in that order. `calls` are the functions that it calls before it goes on, and
    `extra` is data of the provider that has to go back with this answer.
    """

    text: str
    usage: Usage
    model: str
    finish: str = "stop"
    others: tuple[str, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)


# -- usage ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Budget:
    """Limits of one run, each of which ends it, in addition to its time (core/deadline.py); `cost` is in US dollars.

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
