"""Runs a workload before and after a change, in pairs, and compares the costs of the pairs."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from math import comb
from operator import attrgetter
from statistics import median, quantiles

from greenloop.plugins.improve.aims import Goal
from greenloop.plugins.improve.records import Gain
from greenloop.plugins.improve.wording import show_cost
from greenloop_sandbox import Costs, Execution, all_passed, case_results
from greenloop_sandbox.report.traces import peak_bytes

RESOLUTION = 2e-5  # seconds: a mark takes longer from one process to the other and back
LITTLE = 1e-3  # seconds of repeated calls that are never too many
KEPT = 5e-3  # seconds of first calls: with less, what only they have to do may be most of it
SPENT = 0.5  # of a gain: what may be spent elsewhere, and by how much a peak seen from outside may fall short
RESIDENT = 1_000_000  # bytes: steps in which a process takes memory, and gives it back
HOPELESS = 8  # pairs after which a candidate that does not cost less is given up
LOOKS = (15, 23, 33)  # pairs after which the interval is judged
CONFIDENCE = 0.9999  # of each look: all three together let pass fewer than 1 of 10,000 equal candidates


@dataclass(frozen=True, kw_only=True)
class RunCost:
    """Cost of a run. Seconds of the first pass over the cases, and of a repeated one (0: there was none).

    `costs` are the supervisor's; their `peak` is 0 where it was not measured. `bytes` is the peak of Python's own
    allocator, 0 where memory was not measured.
    """

    first: float
    repeated: float
    costs: Costs
    bytes: int = 0


def read_cost(execution: Execution, passes: int) -> RunCost | None:
    """Returns the cost of a run of this many passes; None where a case did not pass, or a mark is missing."""
    costs, cases = execution.costs, len(case_results(execution))
    if costs is None or not all_passed(execution) or len(costs.calls) != cases * passes:
        return None
    repeated = sum(costs.calls[cases:]) / (passes - 1) if passes > 1 else 0.0
    return RunCost(first=sum(costs.calls[:cases]), repeated=repeated, costs=costs, bytes=peak_bytes(execution) or 0)


def check_gain(gain: Gain, before: Sequence[RunCost], after: Sequence[RunCost], *, below: float) -> Gain:
    """Returns the gain with the costs of repeated calls, and with the reason why it is not believed, if there is one.

    The runs of both versions are paired; those of a pair made the same number of passes.
    """
    gain = _with_repeated(gain, before, after)
    reasons = [_memory_reason(before, after)] if any(run.bytes for run in before) else []
    reasons += [_time_reason(gain, after, below), _elsewhere(before, after)] if gain.goal is Goal.TIME else []
    return replace(gain, refused=next(filter(None, reasons), ""))


def _with_repeated(gain: Gain, before: Sequence[RunCost], after: Sequence[RunCost]) -> Gain:
    pairs = [(old.repeated, new.repeated) for old, new in zip(before, after, strict=True) if old.repeated]
    if gain.goal is Goal.MEMORY or not pairs:
        return gain
    old, new = (median(column) for column in zip(*pairs, strict=True))
    return replace(gain, repeated_before=old, repeated_after=new)


def _time_reason(gain: Gain, after: Sequence[RunCost], below: float) -> str:
    """Returns why the seconds of the calls are no gain.

    First and repeated calls both have to cost less: neither may leave its work to the other, and results that are kept
    make only repeated ones cheap.
    """
    least = min(run.first for run in after)
    if least < RESOLUTION:
        return f"it is said to take {least * 1000:.3f} ms, less than a clock outside its process can show"
    old, new = gain.repeated_before, gain.repeated_after
    if old and new >= max(below * old, LITTLE):
        return f"repeated calls take {show_cost(Goal.TIME, old)} with your code and {show_cost(Goal.TIME, new)} with it"
    if old and gain.after > KEPT and new < SPENT * gain.after * old / gain.before:
        costs = f"{show_cost(Goal.TIME, gain.after)} at first and {show_cost(Goal.TIME, new)} when they are repeated"
        return f"it seems to keep results from one call to the next: calls take {costs}"
    return ""


def _memory_reason(before: Sequence[RunCost], after: Sequence[RunCost]) -> str:
    """Returns why the bytes are no gain: the process itself counts them, so they must be seen from outside, too."""
    least = min(run.bytes for run in after)
    if least <= 0:
        return f"Python's allocator is said to have {least} bytes in use"
    saved = median(run.bytes for run in before) - median(run.bytes for run in after)
    pairs = [(old.costs.peak, new.costs.peak) for old, new in zip(before, after, strict=True) if old.costs.peak]
    old, new = (median(column) for column in zip(*pairs, strict=True))
    if old - new < (SPENT * saved if saved > 0 else saved / SPENT) - RESIDENT:
        sizes = " and ".join(show_cost(Goal.MEMORY, size) for size in (old, new))
        return f"seen from outside, the process grows by {sizes}, with your code and with it"
    return ""


def _elsewhere(before: Sequence[RunCost], after: Sequence[RunCost]) -> str:
    """Returns where much of the gain is spent outside of the calls; "" where it is not.

    Imports and fixtures take little time, so their median counts; all together takes longer, and not always as long: it
    has to be more in three of four pairs, too.
    """
    saved = median(old.first - new.first for old, new in zip(before, after, strict=True))
    for clock, where in _ELSEWHERE.items():
        more = [clock(new.costs) - clock(old.costs) for old, new in zip(before, after, strict=True)]
        is_shown = clock in _SHORT or quantiles(more, n=4)[0] > 0
        if is_shown and median(more) > SPENT * saved:
            costs = [show_cost(Goal.TIME, cost) for cost in (median(more), saved)]
            return f"{where} takes {costs[0]} more, and the calls {costs[1]} less"
    return ""


_SHORT = (attrgetter("imports"), attrgetter("fixtures"))
_ELSEWHERE = {
    _SHORT[0]: "importing it",
    _SHORT[1]: "what is done before and after the calls",
    attrgetter("elapsed"): "the time outside the calls",
    attrgetter("processor"): "the work of all processes outside the calls",
}


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
