"""Keeps the budget of a run: every model call reserves tokens and cost, and settles them afterwards.

Concurrent calls reserve the most that they may use, so that no limit is exceeded. Most calls use far less, so one that
fits only in part with the others waits until they are settled.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from greenloop.core.records.model import Budget, ChatRequest, Estimate, InfillRequest, PastRun, Quantiles, Reply, Usage
from greenloop.core.records.outcome import StopReason
from greenloop.core.text.tokens import count_message

Request = ChatRequest | InfillRequest
Price = Callable[[int, int], float | None]  # US dollars for prompt and completion tokens, where known

SHORTEST_ANSWER = 16  # tokens; a shorter answer is not worth asking for


class BudgetExceededError(Exception):
    """The budget does not allow another model call; `reason` is the limit that was reached."""

    def __init__(self, reason: StopReason) -> None:
        super().__init__(reason.value)
        self.reason = reason


@dataclass(frozen=True, kw_only=True)
class Reservation:
    """The most that a running call may use: tokens of its prompt and answer, and their price when it was made.

    The price may become known during the call, so the reservation must be released as it was made.
    """

    prompt_tokens: int
    answer_tokens: int
    cost: float


class Ledger:
    """The budget of one run. `used` is the usage of all model calls so far, whatever their purpose."""

    def __init__(self, budget: Budget, price: Price | None = None) -> None:
        self.budget = budget
        self.used = Usage()
        self.price = price
        self._reserved = (0, 0.0)
        self._settled = asyncio.Event()

    async def reserve_beside_others(
        self, prompt_tokens: int, answer_tokens: int, least: int = SHORTEST_ANSWER
    ) -> Reservation:
        """As `reserve`, but waits for the calls under way as long as the whole answer does not fit with them."""
        while self._reserved[0] and not self._fits(prompt_tokens, answer_tokens):
            self._settled.clear()
            await self._settled.wait()
        return self.reserve(prompt_tokens, answer_tokens, least)

    def reserve(self, prompt_tokens: int, answer_tokens: int, least: int = SHORTEST_ANSWER) -> Reservation:
        """Reserves a prompt and up to `answer_tokens` of its answer until `settle`, fewer where the cost is limited.

        Raises `BudgetExceededError` where not even an answer of `least` tokens fits the limits.
        """
        reserved_tokens, reserved_cost = self._reserved
        granted_tokens = min(answer_tokens, self._tokens_left() - prompt_tokens)
        if granted_tokens < min(least, answer_tokens):
            raise BudgetExceededError(StopReason.TOKENS)
        while self._is_too_expensive(cost := self._cost(prompt_tokens, granted_tokens)):
            if granted_tokens <= least:
                raise BudgetExceededError(StopReason.COST)
            granted_tokens = max(granted_tokens // 2, least)
        self._reserved = (reserved_tokens + prompt_tokens + granted_tokens, reserved_cost + cost)
        return Reservation(prompt_tokens=prompt_tokens, answer_tokens=granted_tokens, cost=cost)

    def settle(self, reservation: Reservation, usage: Usage | None) -> None:
        """Ends a reservation; `usage` is that of the call (None: the call failed)."""
        reserved_tokens, reserved_cost = self._reserved
        self._reserved = (
            reserved_tokens - reservation.prompt_tokens - reservation.answer_tokens,
            reserved_cost - reservation.cost,
        )
        if usage is not None:
            self.used += usage
        self._settled.set()

    def _fits(self, prompt_tokens: int, answer_tokens: int) -> bool:
        cost = self._cost(prompt_tokens, answer_tokens)
        return prompt_tokens + answer_tokens <= self._tokens_left() and not self._is_too_expensive(cost)

    def _tokens_left(self) -> int:
        return self.budget.tokens - self.used.tokens - self._reserved[0]

    def _is_too_expensive(self, cost: float) -> bool:
        limit = self.budget.cost
        return bool(limit) and (self.used.cost or 0.0) + self._reserved[1] + cost > (limit or 0.0)

    def _cost(self, prompt: int, completion: int) -> float:
        return (self.price(prompt, completion) if self.price else None) or 0.0


async def ask_within_budget(
    ledger: Ledger,
    ask: Callable[[Request, Callable[[str], None]], Awaitable[Reply]],
    request: Request,
    on_token: Callable[[str], None],
    count: Callable[[str], int],
    *,
    least: int = SHORTEST_ANSWER,
) -> Reply:
    """Asks within the budget, after other calls if it does not fit with them, for a shorter answer near its end.

    Raises `BudgetExceededError` where not even an answer of `least` tokens fits; always settles.
    """
    reservation = await ledger.reserve_beside_others(count_prompt_tokens(request, count), request.max_tokens, least)
    usage = None
    try:
        reply = await ask(replace(request, max_tokens=reservation.answer_tokens), on_token)
        usage = reply.usage
        return reply
    finally:
        ledger.settle(reservation, usage)


def count_prompt_tokens(request: Request, count: Callable[[str], int]) -> int:
    """Counts the tokens of a request's prompt."""
    if isinstance(request, InfillRequest):
        return count(request.prefix) + count(request.suffix)
    tools = sum(count(tool.description) + count(json.dumps(tool.parameters)) for tool in request.tools)
    return sum(count_message(message, count) for message in request.messages) + tools


# -- an estimate of a run ---------------------------------------------------------------------------------------------


ENOUGH_RUNS = 5  # similar runs; with fewer, the estimate is made from the prompt
ENOUGH_FOR_SOLVED_SHARE = 20  # similar runs; with fewer, the share of solved ones is not shown
QUANTILES = (0.1, 0.5, 0.9)  # low, likely, high
EMBEDDED = (33.0, 12.0)  # tokens a second that the embedded model reads, and writes, on two cores


def estimate_run(
    past: Sequence[PastRun],
    *,
    prompt_tokens: int,
    answer_tokens: int,
    limit: int,
    speeds: tuple[float, float] | None = None,
) -> Estimate:
    """The estimate for a first prompt of `prompt_tokens`.

    While there are too few similar runs, it is made from the tokens of an answer (`answer_tokens`), the token limit of
    the run (`limit`) and the tokens a second that the model reads and writes (`speeds`, where known).
    """
    prompt_tokens = max(prompt_tokens, 1)
    if len(past) < ENOUGH_RUNS:
        first_answer = min(prompt_tokens + answer_tokens, limit)
        tokens = Quantiles(low=first_answer, likely=first_answer, high=limit)
        first_seconds = prompt_tokens / speeds[0] + answer_tokens / speeds[1] if speeds else None
        seconds = (
            Quantiles(low=first_seconds, likely=first_seconds, high=first_seconds * limit / first_answer)
            if first_seconds
            else None
        )
        return Estimate(prompt_tokens=prompt_tokens, tokens=tokens, seconds=seconds, runs=len(past))
    tokens = _quantiles([run.tokens / run.prompt_tokens for run in past], prompt_tokens, limit)
    seconds = _quantiles([run.seconds / run.prompt_tokens for run in past], prompt_tokens)
    prices = [run.cost / run.prompt_tokens for run in past if run.cost is not None]
    return Estimate(
        prompt_tokens=prompt_tokens,
        tokens=tokens,
        seconds=seconds,
        cost=_quantiles(prices, prompt_tokens) if len(prices) == len(past) else None,
        runs=len(past),
        solved=sum(run.solved for run in past) if len(past) >= ENOUGH_FOR_SOLVED_SHARE else None,
    )


def format_estimate(estimate: Estimate) -> str:
    """`about 900 tokens (400 to 3200), 14 s (8 to 55), $0.01; about 7 in 10 such runs are solved, based on 34 …`."""
    if estimate.runs < ENOUGH_RUNS:
        first = [f"about {_round_significant(estimate.tokens.likely)} tokens"]
        first += [f"{_round_significant(estimate.seconds.likely)} s"] if estimate.seconds else []
        return f"{', '.join(first)} for the first answer; at most {_round_significant(estimate.tokens.high)} tokens"
    parts = [f"about {_format_range(estimate.tokens, 'tokens')}"]
    parts += [_format_range(estimate.seconds, "s")] if estimate.seconds else []
    if (cost := estimate.cost) and cost.high:
        parts.append(f"${cost.likely:.2g}" if cost.likely else f"up to ${cost.high:.2g}")
    chance = ""
    if estimate.solved is not None:
        chance = f"; about {round(10 * estimate.solved / estimate.runs)} in 10 such runs are solved"
    return f"{', '.join(parts)}{chance}, based on {estimate.runs} similar runs"


def _quantiles(ratios: Sequence[float], size: int, limit: float = float("inf")) -> Quantiles:
    sorted_ratios = sorted(ratios)
    return Quantiles(*(min(_quantile(sorted_ratios, share) * size, limit) for share in QUANTILES))


def _quantile(values: Sequence[float], share: float) -> float:
    """A quantile of sorted values, by linear interpolation between the two nearest."""
    position = share * (len(values) - 1)
    lower = int(position)
    upper = min(lower + 1, len(values) - 1)
    return values[lower] + (values[upper] - values[lower]) * (position - lower)


def _format_range(span: Quantiles, unit: str) -> str:
    low, likely, high = map(_round_significant, (span.low, span.likely, span.high))
    return f"{likely} {unit}" if low == high else f"{likely} {unit} ({low} to {high})"


def _round_significant(value: float) -> str:
    """Two significant digits: more would promise too much."""
    digits = max(len(str(int(value))) - 2, 0)
    return str(int(round(value, -digits)))
