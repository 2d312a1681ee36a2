"""Requests to a model, and its reply."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from greenloop.core.records.usage import Usage


class Role(StrEnum):
    """The role of a model in a run; each role may have its own model."""

    DRAFTER = "drafter"
    REFINER = "refiner"
    CRITIC = "critic"
    TESTER = "tester"
    PLANNER = "planner"
    RANKER = "ranker"


@dataclass(frozen=True, kw_only=True)
class Message:
    """One chat message; `role` is system, user or assistant."""

    role: str
    content: str


@dataclass(frozen=True, kw_only=True)
class ChatRequest:
    """A chat request to a model. `role` tells scripted and replayed models which answer is due."""

    messages: tuple[Message, ...]
    role: Role = Role.DRAFTER
    temperature: float = 0.0
    max_tokens: int = 1024
    seed: int | None = None
    stop: tuple[str, ...] = ()
    frequency_penalty: float = 0.0


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

    `others` are its next best answers, in that order.
    """

    text: str
    usage: Usage
    model: str
    finish: str = "stop"
    others: tuple[str, ...] = ()
