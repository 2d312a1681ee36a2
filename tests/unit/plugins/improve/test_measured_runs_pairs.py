"""Which pairs of costs say that the new version costs less, and how often equal versions do: simulated, not measured."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator

import pytest

from greenloop.plugins.improve import measured_runs
from greenloop.plugins.improve.aims import Goal
from greenloop.plugins.improve.records import Gain
from greenloop.plugins.improve.wording import describe_gain

BELOW = 0.9
Noise = Callable[[random.Random], Iterator[float]]


def constant(_dice) -> Iterator[float]:
    while True:
        yield 1.0


def spread(width: float) -> Noise:
    """Times of a machine with other work; the logarithm of each is off by this much."""

    def times(dice):
        while True:
            yield dice.lognormvariate(0, width)

    return times


def heavy_tails(dice) -> Iterator[float]:
    while True:
        yield 1 + 0.2 * (dice.paretovariate(1.1) - 1)


def bursts(runs: float, factor: float) -> Noise:
    """Busy and calm times by turns, each for so many runs on average."""

    def times(dice):
        is_busy = dice.random() < 0.5
        while True:
            is_busy ^= dice.random() < 1 / runs
            yield dice.lognormvariate(0, 0.05) * (factor if is_busy else 1)

    return times


def drift(dice) -> Iterator[float]:
    """A machine that becomes hot, or cools down."""
    step = dice.uniform(-0.03, 0.05)
    for run in range(1000):
        yield math.exp(step * run) * dice.lognormvariate(0, 0.05)


def waves(runs: int) -> Noise:
    """Something else that comes again after as many runs, whatever runs then."""

    def times(dice):
        phase = dice.random() * math.tau
        for run in range(1000):
            yield (1.5 + 0.7 * math.sin(phase + math.tau * run / runs)) * dice.lognormvariate(0, 0.05)

    return times


def slow_first(dice) -> Iterator[float]:
    """The first run of each pair finds cold caches."""
    while True:
        yield 1.4 * dice.lognormvariate(0, 0.1)
        yield dice.lognormvariate(0, 0.1)


NOISES = {
    "calm": spread(0.02),
    "busy": spread(0.3),
    "very busy": spread(1.0),
    "heavy tails": heavy_tails,
    "short bursts": bursts(2, 3),
    "long bursts": bursts(20, 5),
    "drift": drift,
    "every second run": waves(2),
    "every fourth run": waves(4),
    "slow first": slow_first,
}


async def simulate(noise: Noise, seed: int, ratio: float = 1.0, goal: Goal = Goal.TIME) -> tuple[Gain, int]:
    """The gain of a version that takes this share of the time, and how many runs it took to say so."""
    times = noise(random.Random(seed))
    runs = 0

    async def cost(is_new: bool) -> float:
        nonlocal runs
        runs += 1
        return next(times) * (ratio if is_new else 1.0)

    gain = await measured_runs.measure_pairs(goal, cost, below=BELOW, lots=random.Random(-seed - 1))
    assert gain is not None
    return gain, runs


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
async def test_of_10000_equal_versions_none_passes_for_better(noise):
    gains = [(await simulate(noise, seed))[0] for seed in range(1000)]
    assert [gain for gain in gains if gain.high < BELOW] == []


@pytest.mark.parametrize(
    ("name", "ratio"),
    [("calm", 0.3), ("calm", 0.8), ("slow first", 0.3), ("long bursts", 0.01), ("every fourth run", 0.01)],
)
async def test_a_version_that_costs_less_passes(name, ratio):
    gains = [(await simulate(NOISES[name], seed, ratio))[0] for seed in range(100)]
    assert sum(gain.high < BELOW for gain in gains) >= 95


async def test_a_version_that_does_not_cost_less_is_given_up_early():
    gain, runs = await simulate(spread(0.02), 1)
    assert (gain.pairs, runs) == (8, 16)


async def test_eight_pairs_are_never_enough_to_pass():
    gain, runs = await simulate(constant, 1, 0.01)
    assert (gain.pairs, runs, gain.high) == (15, 30, 0.01)


async def test_memory_that_is_always_the_same_is_judged_alike():
    assert (await simulate(constant, 1, 0.89, Goal.MEMORY))[0].high < BELOW
    assert (await simulate(constant, 1, 0.9, Goal.MEMORY))[0].low == BELOW


async def test_runs_that_do_not_end_give_no_gain():
    async def cost(is_new: bool) -> float | None:
        return None if is_new else 1.0

    assert await measured_runs.measure_pairs(Goal.TIME, cost, below=BELOW, lots=random.Random(0)) is None


def test_the_looks_together_admit_fewer_than_one_of_10000():
    """The bound of the sign test, whatever the noise: at least `count - cut` of the ratios lie below."""
    wrong = sum(math.comb(count, cut) / 2**count for count, most in admitted().items() for cut in range(most + 1))
    assert wrong < 1e-4


def admitted() -> dict[int, int]:
    """How many ratios of each look may lie above, found out by asking."""
    found = {}
    for count in measured_runs.LOOKS:
        highs = [
            measured_runs.compare(Goal.TIME, [1.0] * count, [0.5] * (count - above) + [2.0] * above).high
            for above in range(count)
        ]
        found[count] = sum(high < BELOW for high in highs) - 1
    return found


def test_the_interval_of_few_pairs_is_their_range():
    found = measured_runs.compare(Goal.TIME, [1.0] * 9, [0.5, 0.4, 0.45, 0.55, 0.5, 0.5, 0.6, 0.5, 0.5])
    assert (found.low, found.ratio, found.high, found.pairs) == (0.4, 0.5, 0.6, 9)
    assert describe_gain(found) == "1.0 s → 500 ms (0.50, 0.40 to 0.60)"


def test_outliers_of_many_pairs_are_left_out():
    found = measured_runs.compare(Goal.TIME, [1.0] * 33, [0.5] * 30 + [9.0, 0.001, 7.0])
    assert (found.low, found.high) == (0.5, 0.5)


@pytest.mark.parametrize("count", measured_runs.LOOKS)
def test_the_interval_holds_the_median_as_often_as_it_says(count):
    dice = random.Random(count)
    samples = [
        measured_runs.compare(Goal.TIME, [1.0] * count, [dice.random() for _ in range(count)]) for _ in range(4000)
    ]
    assert sum(each.low <= 0.5 <= each.high for each in samples) / 4000 >= measured_runs.CONFIDENCE - 0.001


def test_memory_is_told_in_bytes():
    found = measured_runs.compare(Goal.MEMORY, [2_000_000.0] * 9, [11_400.0] * 9)
    assert describe_gain(found) == "2.0 MB → 11.4 kB (0.01, 0.01 to 0.01)"
