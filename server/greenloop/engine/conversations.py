"""The port of conversations: who holds one with a capable model, instead of asking it many small questions.

A plugin does, by an entry point of the group `greenloop.conversations`, which names a module with
`begin(context, calls, goes_on=False) -> Conversation`. Without it, the preset's search asks all models. This module
must not know what is said.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from greenloop.core import entry_points
from greenloop.core.events import Event
from greenloop.core.ports import RunTests
from greenloop.core.records.attempt import Attempt, Draft
from greenloop.core.records.model import Usage
from greenloop.core.records.problem import Findings, Problem


@dataclass(frozen=True, kw_only=True)
class Withdrawn:
    """Usage of a question whose answer no turn took: the part in the run's ledger, and the part not billed yet."""

    billed: Usage = Usage()
    pending: Usage = Usage()


class Conversation(Protocol):
    """The conversation of one run, which may begin before its baseline is complete.

    `has_question`: a question was sent ahead whose answer no turn has taken yet; `has_answer`: its answer has come.
    """

    @property
    def has_question(self) -> bool: ...

    @property
    def has_answer(self) -> bool: ...

    def ask_early(self, findings: Findings) -> None:
        """Sends the first question as soon as the failure is located, while the rest of the baseline is measured."""

    def know_baseline(self, run: RunTests, findings: Callable[[], Awaitable[Findings]]) -> None:
        """Takes over the functions that run tests over an attempt, and gather the findings of the whole baseline."""

    def ask_ahead(self, baseline: Attempt) -> None:
        """Sends the first question now; `turn` takes its answer. Does nothing where there was one before."""

    async def prompt_tokens(self) -> int:
        """Tokens of the first request."""

    def plan(self, problem: Problem, attempts: Sequence[Attempt]) -> Sequence[Draft]:
        """Plans the next turn, or changes that are tried while its question is under way."""

    async def turn(
        self, number: int, draft: Draft, problem: Problem, attempts: Sequence[Attempt], emit: Callable[[Event], None]
    ) -> tuple[Attempt, Problem]:
        """Asks for the next answer; returns its attempt, and the problem that knows every file that it changes."""

    async def withdraw(self) -> Withdrawn:
        """Ends the question that was sent ahead, if no turn took its answer; returns what it used."""


def find_conversations() -> Any:
    """The module that begins conversations; None where the plugin is not installed."""
    return next(iter(entry_points.load_all(entry_points.CONVERSATIONS)), None)
