"""Keeps the budget of a run: every model call reserves tokens and cost, and settles them afterwards.

Concurrent calls reserve the most that they may use, so that no limit is exceeded.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from greenloop.core.records.model import Completion, Hole, Reply
from greenloop.core.records.outcome import StopReason
from greenloop.core.records.usage import Budget, Usage

Request = Completion | Hole
Price = Callable[[int, int], float | None]  # US dollars for prompt and completion tokens, where known

LEAST = 16  # tokens; a shorter answer is not worth asking for


class Spent(Exception):
    """The budget does not allow another model call; `reason` is the limit that was reached."""

    def __init__(self, reason: StopReason) -> None:
        super().__init__(reason.value)
        self.reason = reason


@dataclass(frozen=True, kw_only=True)
class Held:
    """The most that a running call may use: tokens of its prompt and answer, and their price when it was made.

    The price may become known during the call, so the reservation must be released as it was made.
    """

    prompt: int
    granted: int
    cost: float


class Ledger:
    """The budget of one run. `used` is the usage of all model calls so far, whatever their purpose."""

    def __init__(self, budget: Budget, price: Price | None = None) -> None:
        self.budget = budget
        self.used = Usage()
        self.price = price
        self._held = (0, 0.0)

    def hold(self, prompt: int, wanted: int) -> Held:
        """Reserves a prompt and up to `answer_tokens` of its answer until `settle`.

        Raises `BudgetExceeded` where not even a short answer fits the limits.
        """
        reserved_tokens, reserved_cost = self._held
        tokens_left = self.budget.tokens - self.used.tokens - reserved_tokens - prompt
        granted_tokens = min(wanted, tokens_left)
        if granted_tokens < min(LEAST, wanted):
            raise Spent(StopReason.TOKENS)
        cost = self._cost(prompt, granted_tokens)
        if self.budget.cost and (self.used.cost or 0.0) + reserved_cost + cost > self.budget.cost:
            raise Spent(StopReason.COST)
        self._held = (reserved_tokens + prompt + granted_tokens, reserved_cost + cost)
        return Held(prompt=prompt, granted=granted_tokens, cost=cost)

    def bill(self, held: Held, usage: Usage | None) -> None:
        """Ends a reservation; `usage` is that of the call (None: the call failed)."""
        reserved_tokens, reserved_cost = self._held
        self._held = (reserved_tokens - held.prompt - held.granted, reserved_cost - held.cost)
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
    """Asks within the budget, for a shorter answer where little is left. Raises `BudgetExceeded`; always settles."""
    reservation = ledger.hold(size(request, count), request.max_tokens)
    usage = None
    try:
        reply = await ask(replace(request, max_tokens=reservation.granted), on_token)
        usage = reply.usage
        return reply
    finally:
        ledger.bill(reservation, usage)


def size(request: Request, count: Callable[[str], int]) -> int:
    """Counts the tokens of a request's prompt."""
    if isinstance(request, Hole):
        return count(request.prefix) + count(request.suffix)
    return sum(count(message.content) for message in request.messages)
