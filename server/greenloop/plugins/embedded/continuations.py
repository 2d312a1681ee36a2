"""Finds the most probable texts that continue a prompt, the best first.

After a text, the next best is looked for where another token was most probable anywhere in it, not only at its
beginning: most fixes of a line begin like the line. The prompt and the shared beginning are in the engine's cache, so
each further text costs the tokens after the place where it differs.
"""

from __future__ import annotations

import heapq
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from itertools import count as numbers
from math import log
from typing import Any

IMPROBABLE = log(0.02)  # log probability of the tokens up to the other one; texts below are not written
FRUITLESS = 1  # texts that may equal known ones, in addition to the wanted ones


@dataclass(frozen=True, kw_only=True)
class LikelyToken:
    """A token with its text and log probability."""

    number: int
    text: str
    logprob: float


@dataclass(frozen=True, kw_only=True)
class Step:
    """A token that was written, and the most probable ones for its place."""

    token: LikelyToken
    rivals: Sequence[LikelyToken]


@dataclass(frozen=True, kw_only=True)
class Beginning:
    """The tokens that a text is made to begin with, and the log probability of all."""

    numbers: tuple[int, ...] = ()
    text: str = ""
    logprob: float = 0.0

    def extended(self, token: LikelyToken) -> Beginning:
        return Beginning(
            numbers=(*self.numbers, token.number),
            text=self.text + token.text,
            logprob=self.logprob + token.logprob,
        )


Write = Callable[[Beginning], Awaitable[tuple[str, Sequence[Step]]]]
Cut = Callable[[str], tuple[str, bool]]


async def best_texts(write: Write, cut: Cut, *, count: int, avoid: str) -> list[str]:
    """Up to `count` different texts other than `avoid`, spaces aside; the best one as it is where there is no other.

    `write` continues a beginning greedily; it returns the whole text, and the steps after the beginning.
    `cut` returns the part of a text that counts, and whether more text would change nothing.
    """
    search = _Search(known={_squeeze(avoid)})
    text, steps = await write(Beginning())
    first = cut(text)[0]
    search.add(first)
    search.branch(Beginning(), steps)
    further = 0
    while len(search.found) < count and further < count + FRUITLESS and search.heap:
        _cost, _order, beginning, is_end = heapq.heappop(search.heap)
        text, is_complete = cut(beginning.text)
        if is_end or is_complete:
            search.add(text)
            continue
        text, steps = await write(beginning)
        search.add(cut(text)[0])
        search.branch(beginning, steps)
        further += 1
    return search.found or [first]


@dataclass
class _Search:
    known: set[str]
    found: list[str] = field(default_factory=list)
    heap: list[tuple[float, int, Beginning, bool]] = field(default_factory=list)
    _order: Any = field(default_factory=numbers)

    def add(self, text: str) -> None:
        if _squeeze(text) and _squeeze(text) not in self.known:
            self.known.add(_squeeze(text))
            self.found.append(text)

    def branch(self, beginning: Beginning, steps: Sequence[Step]) -> None:
        """Remembers every other token that is probable enough in its place."""
        for step in steps:
            for rival in step.rivals:
                if rival.number == step.token.number or rival.text.lstrip().startswith(("#", '"""')):
                    continue
                other = beginning.extended(rival)
                if other.logprob >= IMPROBABLE:  # a token without text ends the answer
                    heapq.heappush(self.heap, (-other.logprob, next(self._order), other, not rival.text))
            beginning = beginning.extended(step.token)


def _squeeze(text: str) -> str:
    return "".join(text.split())


def read_steps(event: dict[str, Any]) -> list[Step]:
    """The steps in an event of the engine's stream that was asked for probabilities (`n_probs`)."""
    return [
        Step(token=_read_token(each), rivals=[_read_token(rival) for rival in each.get("top_logprobs", ())])
        for each in event.get("completion_probabilities") or ()
    ]


def _read_token(row: dict[str, Any]) -> LikelyToken:
    return LikelyToken(
        number=row["id"], text=bytes(row.get("bytes", ())).decode("utf-8", "replace"), logprob=float(row["logprob"])
    )
