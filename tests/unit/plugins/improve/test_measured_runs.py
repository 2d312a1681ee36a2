"""Which gains are believed, by what the supervisor measured in and beside the calls."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from greenloop.plugins.improve import measured_runs
from greenloop.plugins.improve.aims import Goal
from greenloop.plugins.improve.measured_runs import RunCost
from greenloop.plugins.improve.records import Gain
from greenloop_sandbox import Costs, Execution

PAIRS = 15


def runs(first: float = 0.1, repeated: float = 0.1, size: int = 0, **costs: Any) -> list[RunCost]:
    whole = Costs(calls=(first,), imports=0.02, fixtures=0.01, elapsed=0.1, processor=0.1)
    one = RunCost(first=first, repeated=repeated, costs=replace(whole, **costs), bytes=size)
    return [replace(one, repeated=repeated if number % 3 == 0 else 0.0) for number in range(PAIRS)]


def checked(before: list[RunCost], after: list[RunCost], goal: Goal = Goal.TIME) -> Gain:
    old, new = before[0], after[0]
    costs = (old.bytes, new.bytes) if goal is Goal.MEMORY else (old.first, new.first)
    ratio = costs[1] / costs[0]
    gain = Gain(goal=goal, before=costs[0], after=costs[1], ratio=ratio, low=ratio, high=ratio, pairs=PAIRS)
    return measured_runs.check_gain(gain, before, after, below=0.9)


@pytest.mark.parametrize(
    ("after", "reason"),
    [
        (runs(0.02, 0.02), ""),
        (runs(0.02, 0.02, imports=0.03), ""),  # ten of eighty milliseconds saved
        (runs(0.02, 0.02, imports=0.1), "importing it takes 80 ms more, and the calls 80 ms less"),
        (runs(0.02, 0.02, fixtures=0.09), "what is done before and after the calls takes 80 ms more"),
        (runs(0.02, 0.02, elapsed=0.19), "the time outside the calls takes 90 ms more"),
        (runs(0.02, 0.02, processor=0.19), "the work of all processes outside the calls takes 90 ms more"),
        (runs(0.02, 0.1), "repeated calls take 100 ms with your code and 100 ms with it"),
        (
            runs(0.05, 0.0001),
            "it seems to keep results from one call to the next: calls take 50 ms at first and 0.1 ms",
        ),
        (runs(0.002, 0.0005), ""),  # what only a first call has to do is most of it
        (runs(0.00001, 0.00001), "it is said to take 0.010 ms, less than a clock outside its process can show"),
        (runs(0.0, 0.0), "it is said to take 0.000 ms"),
        (runs(-2893.5, -2893.5), "it is said to take -2893500.000 ms"),
    ],
)
def test_what_is_spent_elsewhere_is_no_gain(after, reason):
    gain = checked(runs(), after)
    assert gain.refused.startswith(reason)
    assert bool(gain.refused) is bool(reason)
    assert (gain.repeated_before, gain.repeated_after) == (0.1, after[0].repeated)


def test_one_slow_run_beside_the_calls_is_no_reason():
    after = runs(0.02, 0.02)
    after[3] = replace(after[3], costs=replace(after[3].costs, imports=2.0, elapsed=3.0, processor=3.0))
    assert checked(runs(), after).refused == ""


def test_code_of_the_user_that_keeps_results_itself_can_be_improved():
    assert checked(runs(0.1, 0.0002), runs(0.02, 0.0003)).refused == ""
    assert "repeated calls" in checked(runs(0.1, 0.0002), runs(0.02, 0.02)).refused


MEGABYTE = 1_000_000


@pytest.mark.parametrize(
    ("size", "peak", "is_believed"),
    [
        (1 * MEGABYTE, 12 * MEGABYTE, True),
        (1 * MEGABYTE, 20 * MEGABYTE, False),  # nothing of it is seen from outside
        (0, 12 * MEGABYTE, False),
        (-5, 12 * MEGABYTE, False),
        (10 * MEGABYTE - 200_000, 20 * MEGABYTE + 300_000, True),  # too little to be seen
        (10 * MEGABYTE - 200_000, 22 * MEGABYTE, False),
    ],
)
def test_memory_is_saved_where_it_is_seen_from_outside_too(size, peak, is_believed):
    before, after = runs(size=10 * MEGABYTE, peak=20 * MEGABYTE), runs(size=size, peak=peak)
    assert (checked(before, after, Goal.MEMORY).refused == "") is is_believed


def execution(*calls: float, outcome: str = "passed") -> Execution:
    names = ("t.py::test_a", "t.py::test_b")
    phases = [
        {"kind": "phase", "id": name, "when": when, "outcome": outcome if when == "call" else "passed"}
        for name in names
        for when in ("setup", "call", "teardown")
    ]
    begins = [{"kind": "begin", "id": name} for name in names]
    costs = Costs(calls=calls, imports=0.0, fixtures=0.01, elapsed=0.0, processor=0.0) if calls else None
    return Execution(records=(*begins, *phases, {"kind": "finished"}), costs=costs)


def test_passes_are_told_apart():
    found = measured_runs.read_cost(execution(1.0, 2.0, 0.5, 0.5, 0.25, 0.75), 3)
    assert found is not None
    assert (found.first, found.repeated) == (3.0, 1.0)


@pytest.mark.parametrize(
    "run",
    [
        execution(1.0, 2.0, 3.0),  # a mark more than there are calls
        execution(1.0),
        execution(),
        execution(1.0, 2.0, outcome="failed"),
    ],
)
def test_a_run_with_other_marks_than_calls_has_no_cost(run):
    assert measured_runs.read_cost(run, 1) is None
