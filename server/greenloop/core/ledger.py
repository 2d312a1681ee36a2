"""What a run has spent and may still spend: every model call asks here first and is billed here after.

Calls that are under way at the same time hold what they may use at most, so that no limit is passed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from greenloop.core.nouns import Budget, Completion, Hole, Reply, StopReason, Usage

Request = Completion | Hole
Price = Callable[[int, int], float | None]  # US dollars of so many prompt and completion tokens, where known

LEAST = 16  # tokens; an answer shorter than this is not worth asking for


class Spent(Exception):
    """The budget does not allow another model call; `reason` is the limit that holds."""

    def __init__(self, reason: StopReason) -> None:
        super().__init__(reason.value)
        self.reason = reason


@dataclass(frozen=True, kw_only=True)
class Held:
    """What a call under way may use at most: tokens of its prompt and of its answer, and their price as known then.

    A price may become known meanwhile; what is given back must be what was taken.
    """

    prompt: int
    granted: int
    cost: float


class Ledger:
    """The books of one run. `used` is all that model calls have cost so far, for whatever they were made."""

    def __init__(self, budget: Budget, price: Price | None = None) -> None:
        self.budget = budget
        self.used = Usage()
        self.price = price
        self._held = (0, 0.0)

    def hold(self, prompt: int, wanted: int) -> Held:
        """What the answer to a prompt of so many tokens may have, at most `wanted` tokens; it is held until `bill`.

        Raises `Spent` where not even a short answer fits the limits.
        """
        tokens, money = self._held
        room = self.budget.tokens - self.used.tokens - tokens - prompt
        granted = min(wanted, room)
        if granted < min(LEAST, wanted):
            raise Spent(StopReason.TOKENS)
        cost = self._cost(prompt, granted)
        if self.budget.cost and (self.used.cost or 0.0) + money + cost > self.budget.cost:
            raise Spent(StopReason.COST)
        self._held = (tokens + prompt + granted, money + cost)
        return Held(prompt=prompt, granted=granted, cost=cost)

    def bill(self, held: Held, usage: Usage | None) -> None:
        """Ends a hold; `usage` is what the call came to (None: it came to nothing)."""
        tokens, money = self._held
        self._held = (tokens - held.prompt - held.granted, money - held.cost)
        if usage is not None:
            self.used += usage

    def _cost(self, prompt: int, completion: int) -> float:
        return (self.price(prompt, completion) if self.price else None) or 0.0


async def billed(
    ledger: Ledger,
    ask: Callable[[Request, Callable[[str], None]], Awaitable[Reply]],
    request: Request,
    on_token: Callable[[str], None],
    count: Callable[[str], int],
) -> Reply:
    """Asks within the budget: a shorter answer where it is short, `Spent` where it is over. Always billed."""
    held = ledger.hold(size(request, count), request.max_tokens)
    usage = None
    try:
        reply = await ask(replace(request, max_tokens=held.granted), on_token)
        usage = reply.usage
        return reply
    finally:
        ledger.bill(held, usage)


def size(request: Request, count: Callable[[str], int]) -> int:
    """Tokens of a request's prompt."""
    if isinstance(request, Hole):
        return count(request.prefix) + count(request.suffix)
    return sum(count(message.content) for message in request.messages)
