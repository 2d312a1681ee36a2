"""The interval of a gain, and what may pass for one."""

from __future__ import annotations

import random

import pytest

from greenloop.core.records.goal import Goal
from greenloop.core.summary import describe_gain
from greenloop.verdict import gain


def test_the_interval_of_few_pairs_is_their_range():
    found = gain.compare(Goal.TIME, [1.0] * 9, [0.5, 0.4, 0.45, 0.55, 0.5, 0.5, 0.6, 0.5, 0.5])
    assert (found.low, found.ratio, found.high, found.pairs) == (0.4, 0.5, 0.6, 9)
    assert describe_gain(found) == "1.0 s → 500 ms (0.50, 0.40 to 0.60)"


def test_outliers_of_many_pairs_are_left_out():
    found = gain.compare(Goal.TIME, [1.0] * 33, [0.5] * 30 + [9.0, 0.001, 7.0])
    assert (found.low, found.high) == (0.5, 0.5)


@pytest.mark.parametrize("count", gain.LOOKS)
def test_the_interval_holds_the_median_as_often_as_it_says(count):
    dice = random.Random(count)
    samples = [gain.compare(Goal.TIME, [1.0] * count, [dice.random() for _ in range(count)]) for _ in range(4000)]
    assert sum(each.low <= 0.5 <= each.high for each in samples) / 4000 >= gain.CONFIDENCE - 0.01


def test_memory_is_told_in_bytes():
    found = gain.compare(Goal.MEMORY, [2_000_000.0] * 9, [11_400.0] * 9)
    assert describe_gain(found) == "2.0 MB → 11.4 kB (0.01, 0.01 to 0.01)"
