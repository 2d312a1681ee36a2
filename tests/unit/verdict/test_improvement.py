"""What a model is told of code that costs too much."""

from __future__ import annotations

from greenloop.core.records.goal import Goal
from greenloop.core.report.traces import LineCost
from greenloop.verdict import gain, improvement

TEXT = "def f(items):\n    seen = []\n    for item in items:\n        if item not in seen:\n            seen.append(item)\n"
COSTS = {
    2: LineCost(times=1, seconds=0.0, bytes=56),
    3: LineCost(times=6001, seconds=0.001, bytes=0),
    4: LineCost(times=6000, seconds=0.061, bytes=0),
    5: LineCost(times=3000, seconds=0.0005, bytes=250_000),
    900: LineCost(times=1, seconds=9.0, bytes=9),  # a line that the text does not have
}


def describe(goal):
    return improvement.describe_costs(gain.profiled_lines(COSTS, TEXT, goal), goal)


def test_the_dearest_lines_come_first_with_their_text():
    assert describe(Goal.TIME) == [
        "line 4, 6000 times, 61 ms: if item not in seen:",
        "line 3, 6001 times, 1.0 ms: for item in items:",
        "line 5, 3000 times, 0.5 ms: seen.append(item)",
    ]


def test_memory_has_an_order_of_its_own():
    assert describe(Goal.MEMORY) == [
        "line 5, 3000 times, 0.2 MB: seen.append(item)",
        "line 2, 1 times, 0.1 kB: seen = []",
    ]
