"""The doors to the outside: what the core expects of models, sandboxes and the user.

They do I/O; all else is functions.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from greenloop.core.nouns import Attempt, Completion, Execution, Hole, Lines, Place, Probe, Reply, Run


class Model(Protocol):
    """A language model. `complete` raises `ModelProblem` when no answer can be had; cancelling it stops the work."""

    @property
    def name(self) -> str: ...

    async def complete(self, request: Completion, on_token: Callable[[str], None]) -> Reply: ...

    def count_tokens(self, text: str) -> int: ...

    async def close(self) -> None: ...


@runtime_checkable
class Infiller(Protocol):
    """A model that also fills holes. Errors and cancelling as in `Model.complete`."""

    async def infill(self, request: Hole, on_token: Callable[[str], None]) -> Reply: ...


class Keys(Protocol):
    """Who keeps keys; asked for a provider's, which else stands in the environment variable. None: there is none."""

    async def __call__(self, provider: str, variable: str) -> str | None: ...


def slots(model: Model) -> int:
    """How many requests the model answers side by side without slowing each other much; 1 where it does not say."""
    return int(getattr(model, "slots", 1))


class Session(Protocol):
    """An open sandbox. `run` never raises for what a candidate does; cancelling it kills the candidate's tree.

    `warm` does beforehand what the first run would have to wait for, `pause` stops using the machine until the next
    run; neither raises.
    """

    @property
    def name(self) -> str: ...

    async def run(self, run: Run) -> Execution: ...

    async def warm(self) -> None: ...

    async def pause(self) -> None: ...

    async def close(self) -> None: ...


class Sandbox(Protocol):
    """A way to run code behind a wall. `probe` is the self-test; `open` raises `CannotVerify` with the remedy.

    `say` is told what goes on where opening takes long.
    """

    say: Callable[[str], None]

    @property
    def name(self) -> str: ...

    async def probe(self) -> Probe: ...

    async def open(self, place: Place) -> Session: ...


class User(Protocol):
    """Somebody who may be asked. None means "no answer", which every caller must be able to live with."""

    async def confirm(self, question: str) -> bool | None: ...

    async def choose(self, question: str, options: Sequence[str]) -> str | None: ...

    async def correct(self, question: str, text: str) -> str | None: ...


class Nobody:
    """The user that never answers (scripts, CI, editors that cannot ask)."""

    async def confirm(self, question: str) -> bool | None:  # noqa: ARG002
        return None

    async def choose(self, question: str, options: Sequence[str]) -> str | None:  # noqa: ARG002
        return None

    async def correct(self, question: str, text: str) -> str | None:  # noqa: ARG002
        return None


@dataclass(frozen=True, kw_only=True)
class Tools:
    """What a part may use: ask (the model of the request's role), the open sandbox session, the user, randomness.

    `run` runs these selectors over the texts of an attempt, with lines watched where asked. What an ask cost goes into
    the `usage` of the part's `Note`; asking raises `Spent` when the run's budget does not allow it, which the part lets
    pass. `place` says where the session runs, if anywhere. `options` are the settings `spec.*` by their last word, for
    the parts that these name.
    """

    ask: Callable[[Completion], Awaitable[Reply]]
    run: Callable[[Attempt, Sequence[str], Sequence[Lines]], Awaitable[Execution]]
    session: Session
    user: User
    rng: random.Random
    place: Place | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
