"""Costs by line as rows with bars."""

from __future__ import annotations

import pytest

from greenloop.plugins.improve.aims import Goal
from greenloop.plugins.improve.records import Gain, ProfiledLine
from greenloop.plugins.improve.wording import bar, heat_rows

BEFORE = (
    ProfiledLine(line=5, text="        if item not in seen:", times=6000, cost=0.061),
    ProfiledLine(line=4, text="    for item in items:", times=6001, cost=0.001),
    ProfiledLine(line=6, text="            seen.append(item)", times=3000, cost=0.0005),
)
AFTER = (ProfiledLine(line=2, text="    return list(dict.fromkeys(items))", times=2, cost=0.0002),)


def gain(goal=Goal.TIME, before=BEFORE, after=AFTER):
    return Gain(
        goal=goal,
        before=0.064,
        after=0.0008,
        ratio=0.01,
        low=0.01,
        high=0.01,
        pairs=9,
        lines_before=before,
        lines_after=after,
    )


def test_the_lines_stand_in_their_order_with_one_scale_for_both_texts():
    assert heat_rows(gain(), most=9) == [
        "before: 64 ms",
        "▏           4  6001x  1.0 ms  for item in items:",
        "██████████  5  6000x   61 ms      if item not in seen:",
        "▏           6  3000x  0.5 ms          seen.append(item)",
        "after: 0.8 ms",
        "▏           2  2x  0.2 ms  return list(dict.fromkeys(items))",
    ]


def test_of_many_lines_the_dearest_are_listed():
    assert [row.strip("█▏ ")[:1] for row in heat_rows(gain(), most=1)] == ["b", "5", "a", "2"]


def test_memory_is_told_in_bytes():
    lines = (ProfiledLine(line=2, text="\treturn [0] * n", times=1, cost=250_000.0),)
    rows = heat_rows(gain(Goal.MEMORY, lines, ()), most=9)
    assert rows[1:] == ["██████████  2  1x  0.2 MB  return [0] * n", "after: 0.0 kB"]


def test_runs_of_older_versions_have_no_rows():
    assert heat_rows(gain(before=(), after=()), most=9) == []


@pytest.mark.parametrize(
    ("share", "filled"), [(0.0, ""), (0.0001, "▏"), (0.5, "█████"), (0.3125, "███▏"), (1.0, "█" * 10), (2.0, "█" * 10)]
)
def test_a_bar_is_filled_to_its_share(share, filled):
    assert bar(share) == filled.ljust(10)
