"""Says of two versions of code whether the new one costs less, from costs that were measured in pairs.

The machine may be busy, so only costs of the same moment are compared: each pair runs both versions, in an order drawn
by lot, and the median of the ratios has an interval that assumes nothing about their distribution.
Of two equal versions, either one is as likely to cost less in any pair, whatever the machine does: a disturbance cannot
follow a lot. So it is the sign test that bounds how often equal code passes for better (Conover, Practical
Nonparametric Statistics, 1999).
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Sequence
from math import comb
from statistics import median

from greenloop.core.records.goal import Gain, Goal

HOPELESS = 8  # pairs after which a candidate that does not cost less is given up
LOOKS = (15, 23, 33)  # pairs after which the interval is judged
CONFIDENCE = 0.9999  # of each look: all three together let pass fewer than 1 of 10,000 equal candidates


async def measure_pairs(
    goal: Goal, cost: Callable[[bool], Awaitable[float | None]], *, below: float, lots: random.Random
) -> Gain | None:
    """Measures pairs until the interval lies on one side of `below`, half of them do not cost less, or there are 33.

    `cost(True)` runs the new version and returns its cost, `cost(False)` the old one; None: it did not run to its end,
    and nothing is returned. `lots` draws which of the two is first.
    """
    befores: list[float] = []
    afters: list[float] = []
    for pairs in (HOPELESS, *LOOKS):
        while len(befores) < pairs:
            is_new_first = lots.random() < 0.5
            first = await cost(is_new_first)
            second = await cost(not is_new_first)
            if first is None or second is None:
                return None
            befores.append(second if is_new_first else first)
            afters.append(first if is_new_first else second)
        gain = compare(goal, befores, afters)
        if gain.low >= below or gain.ratio >= 1 or (gain.high < below and pairs != HOPELESS):
            break
    return gain


def compare(goal: Goal, befores: Sequence[float], afters: Sequence[float]) -> Gain:
    """Returns the gain of paired costs, with the interval of the order statistics for the median of their ratios."""
    ratios = sorted(after / before for before, after in zip(befores, afters, strict=True))
    cut = _cut(len(ratios))
    return Gain(
        goal=goal,
        before=median(befores),
        after=median(afters),
        ratio=median(ratios),
        low=ratios[cut],
        high=ratios[-1 - cut],
        pairs=len(ratios),
    )


def _cut(count: int) -> int:
    """Returns how many of the sorted values may be left out at each end."""
    outside, cut = 2 * 0.5**count, 0
    while (wider := outside + 2 * comb(count, cut + 1) * 0.5**count) <= 1 - CONFIDENCE:
        outside, cut = wider, cut + 1
    return cut
