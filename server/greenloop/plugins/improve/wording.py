"""Puts into words what a change gained: costs before and after, and by line as rows with bars of one scale."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from greenloop.plugins.improve.aims import Goal
from greenloop.plugins.improve.records import Gain, ProfiledLine

WIDTH = 10  # characters of the longest bar
LONGEST = 60  # characters of a line's text
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def describe_gain(gain: Gain) -> str:
    """`41 ms → 6 ms, repeated 40 ms → 5 ms (0.15, 0.13 to 0.17)`: costs before and after, the ratio, its interval."""
    ratio = f"{gain.ratio:.2f}, {gain.low:.2f} to {gain.high:.2f}"
    costs = f"{show_cost(gain.goal, gain.before)} → {show_cost(gain.goal, gain.after)}"
    if gain.repeated_before:
        repeated = (show_cost(gain.goal, cost) for cost in (gain.repeated_before, gain.repeated_after))
        costs += f", repeated {' → '.join(repeated)}"
    if gain.bytes_before:
        memory = (show_cost(Goal.MEMORY, cost) for cost in (gain.bytes_before, gain.bytes_after))
        costs += f" and {' → '.join(memory)}"
    return f"{costs} ({ratio})"


def show_cost(goal: Goal, cost: float) -> str:
    """`41 ms`, `1.2 s`, `0.4 ms`, or `3.1 MB`."""
    if goal is Goal.MEMORY:
        return f"{cost / 1e6:.1f} MB" if cost >= 1e5 else f"{cost / 1e3:.1f} kB"
    if cost >= 1:
        return f"{cost:.1f} s"
    return f"{cost * 1000:.0f} ms" if cost >= 0.01 else f"{cost * 1000:.1f} ms"


def heat_rows(gain: Gain, most: int) -> list[str]:
    """Rows for the most expensive lines of both texts, at most `most` of each: bar, line, number of runs, cost, text.

    Empty where no profile is known, as in runs of older versions.
    """
    if not gain.lines_before:
        return []
    before, after = (_in_order(lines, most) for lines in (gain.lines_before, gain.lines_after))
    top = max(each.cost for each in (*before, *after))
    rows = [f"before: {show_cost(gain.goal, gain.before)}", *_rows(before, gain.goal, top)]
    return [*rows, f"after: {show_cost(gain.goal, gain.after)}", *_rows(after, gain.goal, top)]


def bar(share: float) -> str:
    """A bar of `WIDTH` characters, filled to this share; what is not nothing is at least a sliver."""
    eighths = max(round(min(share, 1.0) * WIDTH * 8), 1 if share > 0 else 0)
    full, rest = divmod(eighths, 8)
    return (_EIGHTHS[-1] * full + (_EIGHTHS[rest] if rest else "")).ljust(WIDTH)


def _in_order(lines: Sequence[ProfiledLine], most: int) -> list[ProfiledLine]:
    return sorted(lines[:most], key=lambda each: each.line)


def _rows(lines: Sequence[ProfiledLine], goal: Goal, top: float) -> list[str]:
    texts = textwrap.dedent("\n".join(each.text.expandtabs(4) for each in lines)).split("\n")
    cells = [(str(each.line), f"{each.times}x", show_cost(goal, each.cost)) for each in lines]
    widths = [max(len(row[column]) for row in cells) for column in range(3)] if cells else []
    return [
        "  ".join([bar(each.cost / top), *map(str.rjust, row, widths), text[:LONGEST]])
        for each, row, text in zip(lines, cells, texts, strict=False)
    ]
