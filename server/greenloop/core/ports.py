"""Ports to the outside: protocols of models, sandboxes, keys and the user.

Implementations do I/O; everything else in the core is functions.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from greenloop.core.records.attempt import Attempt
from greenloop.core.records.model import ChatRequest, InfillRequest, Reply
from greenloop_sandbox import Execution, Inspection, SandboxSpec, Session, WatchedLines


class Model(Protocol):
    """A language model. `complete` raises `ModelError` when it gets no answer; cancelling it stops the work."""

    @property
    def name(self) -> str: ...

    async def complete(self, request: ChatRequest, on_token: Callable[[str], None]) -> Reply: ...

    def count_tokens(self, text: str) -> int: ...

    async def close(self) -> None: ...


@runtime_checkable
class Infiller(Protocol):
    """A model with a fill-in-the-middle mode. Errors and cancelling as in `Model.complete`."""

    async def infill(self, request: InfillRequest, on_token: Callable[[str], None]) -> Reply: ...


class KeyStore(Protocol):
    """A store of API keys: returns that of a provider, which may also be in the environment variable. None: no key."""

    async def __call__(self, provider: str, variable: str) -> str | None: ...


def slots(model: Model) -> int:
    """Number of requests that the model answers in parallel without a notable slow-down; 1 where it does not say.

    0: it answers none, since there is no model.
    """
    return int(getattr(model, "slots", 1))


def calls_tools(model: Model) -> bool:
    """Does the model take `ChatRequest.tools`? Others are asked to write their calls into the answer."""
    return bool(getattr(model, "calls_tools", False))


def context(model: Model) -> int:
    """Tokens of prompt and answer together that the model takes; 0 where it is not known."""
    return int(getattr(model, "context", 0))


class User(Protocol):
    """The user, who may be asked. None means "no answer", which every caller must handle."""

    async def confirm(self, question: str) -> bool | None: ...

    async def choose(self, question: str, options: Sequence[str]) -> str | None: ...

    async def correct(self, question: str, text: str) -> str | None: ...


class NoUser:
    """A user who never answers (scripts, CI, editors that cannot ask)."""

    async def confirm(self, question: str) -> bool | None:  # noqa: ARG002
        return None

    async def choose(self, question: str, options: Sequence[str]) -> str | None:  # noqa: ARG002
        return None

    async def correct(self, question: str, text: str) -> str | None:  # noqa: ARG002
        return None


class RunTests(Protocol):
    """Runs selectors over the texts of an attempt; watches lines, and describes failures, where that is asked for."""

    async def __call__(
        self,
        attempt: Attempt,
        selectors: Sequence[str],
        watch: Sequence[WatchedLines] = (),
        *,
        inspect: Inspection | None = None,
    ) -> Execution: ...


@dataclass(frozen=True, kw_only=True)
class Tools:
    """The tools of a part: `ask` (the model of the request's role), the open sandbox session, the user, randomness.

    `run` runs selectors over the texts of an attempt. The usage of an `ask` goes into the `usage` of
    the part's `FeedbackNote`; `ask` raises `BudgetExceededError`, which the part must not catch. `sandbox_spec` is that
    of the session, if there is one. `options` are the settings by their dotted keys, for parts with some of their own.
    """

    ask: Callable[[ChatRequest], Awaitable[Reply]]
    run: RunTests
    session: Session
    user: User
    rng: random.Random
    place: SandboxSpec | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
