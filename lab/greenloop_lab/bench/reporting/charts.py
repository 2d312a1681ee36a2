"""Charts of the report: curves of what is solved, a matrix of errors, and wins and losses.

Each is one picture (SVG) with the table of its numbers; it must not know where the numbers come from.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from greenloop_lab.bench.reporting import svg
from greenloop_lab.bench.reporting.curves import Curve, ErrorMatrix
from greenloop_lab.bench.reporting.figures import Pair

WIDTH, HEIGHT = 720, 360
LEFT, RIGHT, TOP, BOTTOM = 56, 20, 16, 48
LEGEND_ROW, CELL_HEIGHT, BAR_HEIGHT = 20, 30, 24
FIRST_COLUMNS = 6  # attempts that have a column each in the table of numbers
LONGEST_NAME = 44  # characters of an arm's name beside its bar


@dataclass(frozen=True, kw_only=True)
class Chart:
    """One chart: `name` is that of its file, `head` and `rows` the numbers that it shows."""

    name: str
    title: str
    note: str
    picture: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


def draw_curves(name: str, title: str, unit: str, note: str, curves: Sequence[Curve]) -> Chart:
    """Steps: the share solved (0 to 100 %) over a cost in `unit`; attempts, tokens or seconds."""
    legend = LEGEND_ROW * len(curves)
    height = HEIGHT + legend
    longest = max((x for curve in curves for x, _solved in curve.points), default=0.0) or 1.0
    across, up = (WIDTH - LEFT - RIGHT) / longest, (HEIGHT - TOP - BOTTOM) / 100
    floor = HEIGHT - BOTTOM
    marks = [tick for tick in svg.ticks(longest) if unit != "attempts" or tick == int(tick)]
    first_ones = range(1, min(int(longest), FIRST_COLUMNS) + 1) if unit == "attempts" else ()
    columns = sorted({*first_ones, *marks[1:]})
    parts = []
    for share in range(0, 101, 25):
        y = floor - share * up
        parts.append(svg.element("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y, class_="rule"))
        parts.append(svg.text(f"{share} %", LEFT - 8, y + 4, "soft end"))
    parts += [svg.text(_short(x), LEFT + x * across, floor + 18, "soft middle") for x in marks]
    parts.append(svg.text(unit, WIDTH - RIGHT, floor + 38, "soft end"))
    for number, curve in enumerate(curves):
        points = [(LEFT + x * across, floor - 100 * solved / max(curve.count, 1) * up) for x, solved in curve.points]
        parts.append(svg.element("path", d=_steps(points), **svg.stroke(number)))
        y = HEIGHT + LEGEND_ROW * number + 8
        parts.append(svg.element("path", d=f"M{LEFT} {y - 4}h34", **svg.stroke(number)))
        parts.append(svg.text(_legend(curve), LEFT + 44, y))
    described = f"{title}. " + "; ".join(map(_legend, curves)) + "."
    return Chart(
        name=name,
        title=title,
        note=note,
        picture=svg.picture(name, title, described, WIDTH, height, *parts),
        head=[f"solved within {unit}", *map(_short, columns)],
        rows=[[curve.arm, *(str(curve.solved_at(x)) for x in columns)] for curve in curves],
    )


def _clip(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def _p_text(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def _legend(curve: Curve) -> str:
    return f"{curve.arm}: {curve.points[-1][1]} of {curve.count} solved"


def _steps(points: Sequence[tuple[float, float]]) -> str:
    (x, y), *rest = points
    return f"M{x:.1f} {y:.1f}" + "".join(f"H{x:.1f}V{y:.1f}" for x, y in rest)


def _short(number: float) -> str:
    return f"{number / 1000:g}k" if number >= 1000 else f"{number:g}"


def draw_errors(name: str, note: str, matrix: ErrorMatrix) -> Chart:
    """Outcomes by attempt: cells of a stronger colour are larger shares of the attempts in their column."""
    title = f"{matrix.arm}: outcome of each attempt"
    left, wide = 110, min(90.0, (WIDTH - 110 - RIGHT) / max(len(matrix.columns), 1))
    totals = [sum(numbers) for numbers in zip(*matrix.rows.values(), strict=True)]
    parts = [svg.text("attempt", left - 10, 18, "soft end")]
    parts += [svg.text(text, left + (n + 0.5) * wide, 18, "soft middle") for n, text in enumerate(matrix.columns)]
    for row, (outcome, numbers) in enumerate(matrix.rows.items()):
        y = 28 + row * CELL_HEIGHT
        parts.append(svg.text(outcome, left - 10, y + 20, "end"))
        for column, count in enumerate(numbers):
            x, share = left + column * wide, count / max(totals[column], 1)
            cell = {"x": x + 1, "y": y + 1, "width": wide - 2, "height": CELL_HEIGHT - 2, "rx": 3}
            # At most half opaque, so that the number on it can be read in either colour.
            parts.append(svg.element("rect", class_="cell", style=f"fill-opacity:{0.04 + 0.46 * share:.2f}", **cell))
            parts.append(
                svg.text(str(count) if count else "·", x + wide / 2, y + 20, "middle" if count else "soft middle")
            )
    height = 28 + CELL_HEIGHT * max(len(matrix.rows), 1) + 8
    described = f"{title}. " + "; ".join(f"{outcome}: {', '.join(map(str, n))}" for outcome, n in matrix.rows.items())
    return Chart(
        name=name,
        title=title,
        note=note,
        picture=svg.picture(name, title, described, WIDTH, height, *parts),
        head=["outcome", *(f"attempt {column}" for column in matrix.columns)],
        rows=[[outcome, *map(str, numbers)] for outcome, numbers in matrix.rows.items()],
    )


def draw_pairs(name: str, title: str, note: str, pairs: Sequence[Pair], number_of: Callable[[str], int]) -> Chart:
    """Task-runs that only one of two arms solved: the first arm's to the left, the other's to the right."""
    most = max((max(pair.only_one, pair.only_other) for pair in pairs), default=0) or 1
    middle, row_height = WIDTH / 2, BAR_HEIGHT + 34
    reach = middle - 100
    parts = []
    for row, pair in enumerate(pairs):
        y = row * row_height + 8
        parts.append(svg.text(f"only {_clip(pair.one)}", middle - 8, y + 12, "end"))
        parts.append(svg.text(f"only {_clip(pair.other)}", middle + 8, y + 12))
        for arm, count, side in ((pair.one, pair.only_one, -1), (pair.other, pair.only_other, 1)):
            wide = reach * count / most
            x = middle - wide if side < 0 else middle
            fill = f"fill{number_of(arm) % len(svg.LIGHT)}"
            parts.append(svg.element("rect", x=x, y=y + 20, width=wide, height=BAR_HEIGHT, class_=fill))
            parts.append(svg.text(str(count), middle + side * (wide + 6), y + 37, "end" if side < 0 else ""))
        parts.append(svg.text(_p_text(pair.p), WIDTH - 4, y + 37, "soft end"))
        parts.append(svg.element("line", x1=middle, x2=middle, y1=y + 16, y2=y + 24 + BAR_HEIGHT, class_="rule"))
    described = f"{title}. " + "; ".join(
        f"only {pair.one} {pair.only_one}, only {pair.other} {pair.only_other}, of {pair.count}" for pair in pairs
    )
    return Chart(
        name=name,
        title=title,
        note=note,
        picture=svg.picture(name, title, described, WIDTH, math.ceil(row_height * len(pairs)) + 8, *parts),
        head=["first", "second", "task-runs", "both", "only first", "only second", "neither", "exact McNemar p"],
        rows=[
            [p.one, p.other, *map(str, (p.count, p.both, p.only_one, p.only_other, p.neither)), f"{p.p:.4f}"]
            for p in pairs
        ],
    )
