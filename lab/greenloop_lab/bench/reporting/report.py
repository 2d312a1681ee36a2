"""Renders the report from figures, as text and CSV. It shows nothing that is not in the records."""

from __future__ import annotations

import csv
import io
import statistics
from collections.abc import Callable, Sequence
from itertools import pairwise

from greenloop_lab.bench.reporting.figures import ENDS, Figures, Pair, wilson
from greenloop_lab.bench.reporting.gains import GainFigures
from greenloop_lab.bench.reporting.limits import LimitFigures, completely, softly

Cell = Callable[[Figures], str]
ALL_UP_TO, FURTHER_COLUMNS = 6, (8, 10, 15, 20, 30, 40, 60, 100)


def _mean(name: str, digits: int = 1) -> Cell:
    return lambda f: f"{f.means[name]:.{digits}f}"


ROWS: tuple[tuple[str, Cell], ...] = (
    ("task-runs", lambda f: str(f.count) + (f" (+{f.broken} without a result)" if f.broken else "")),
    ("solved", lambda f: f"{f.solved} ({100 * f.share:.0f} %)"),
    ("  95 % interval", lambda f: f"{100 * f.interval[0]:.0f}-{100 * f.interval[1]:.0f} %"),
    ("  fully verified", lambda f: str(f.verified)),
    ("asked about the function", lambda f: "-" if f.located is None else str(f.located)),
    ("  SD over repeats", lambda f: "-" if f.deviation is None else f"{100 * f.deviation:.1f} %"),
    ("first attempt right", lambda f: str(f.first_right)),
    ("  solved for each", lambda f: f"{f.solved / f.first_right:.2f}" if f.first_right else "-"),
    ("last attempt right", lambda f: str(f.last_right)),
    ("shown tests passed", lambda f: str(f.shown)),
    ("over-fit", lambda f: str(f.overfit)),
    ("attempts on solved", lambda f: "-" if f.mean_attempts is None else f"{f.mean_attempts:.2f}"),
    ("model calls", _mean("calls", 2)),
    ("  looks", _mean("looks", 2)),
    ("tokens", lambda f: f"{f.mean_tokens:.0f}"),
    ("  prompt", _mean("prompt_tokens", 0)),
    ("  of these cached", _mean("cached_tokens", 0)),
    ("  completion", _mean("completion_tokens", 0)),
    ("tokens per solved task", lambda f: f"{f.mean_tokens * f.count / f.solved:.0f}" if f.solved else "-"),
    ("model seconds", _mean("model_seconds")),
    ("test seconds", _mean("test_seconds", 2)),
    ("wall seconds", _mean("wall_seconds")),
    ("overhead seconds", _mean("overhead_seconds", 2)),
    ("changed lines", lambda f: "-" if f.changed_lines is None else f"{f.changed_lines:g}"),
    ("confidence", lambda f: "-" if f.confidence is None else f"{f.confidence:.2f}"),
    ("refused unrun", lambda f: str(f.refused)),
    ("  of these right", lambda f: str(f.refused_right)),
    ("wrong to right", lambda f: str(f.gained)),
    ("right to wrong", lambda f: str(f.lost)),
)


def _of_gains(cell: Callable[[GainFigures], str]) -> Cell:
    return lambda f: "-" if f.gains is None else cell(f.gains)


GAIN_ROWS: tuple[tuple[str, Cell], ...] = (
    ("right", _of_gains(lambda g: _share(g.right, g.count))),
    ("right, 10 % less (%Opt)", _of_gains(lambda g: _share(g.optimized, g.count))),
    ("right, 50 % less", _of_gains(lambda g: _share(g.doubled, g.count))),
    ("speed-up", _of_gains(lambda g: f"{g.mean:.2f}")),
    ("  geometric mean", _of_gains(lambda g: f"{g.geometric_mean:.2f}")),
    ("seconds over workload's", _of_gains(lambda g: "-" if g.measuring is None else f"{g.measuring:.0f}")),
)


def _of_limits(cell: Callable[[LimitFigures], str]) -> Cell:
    return lambda f: "-" if f.limits is None else cell(f.limits)


LIMIT_ROWS: tuple[tuple[str, Cell], ...] = (
    ("all limits kept at first", _of_limits(lambda k: _share(completely(k.first), len(k.first)))),
    ("  at last", _of_limits(lambda k: _share(completely(k.last), len(k.last)))),
    ("share of limits kept at first", _of_limits(lambda k: f"{softly(k.first):.2f}")),
    ("  at last", _of_limits(lambda k: f"{softly(k.last):.2f}")),
)


def format_report(all_figures: Sequence[Figures], pairs: Sequence[Pair]) -> str:
    """The report for people; means are per task-run."""
    if not all_figures:
        return "No task-run is finished yet."
    parts = [
        _grid(
            [
                ["", *(f.arm for f in all_figures)],
                *([name, *map(cell, all_figures)] for name, cell in rows_of(all_figures)),
            ]
        )
    ]
    columns = _curve_columns(all_figures)
    head = ["solved within attempt", *map(str, columns)]
    parts.append(_grid([head, *([f.arm, *(str(_solved_within(f, k)) for k in columns)] for f in all_figures)]))
    head = ["task-runs of up to n attempts", *map(str, columns)]
    rows = [[f.arm, *(str(_solved_between(f, low, k)) for low, k in pairwise([-1, *columns]))] for f in all_figures]
    parts.append(_grid([head, *rows]))
    names = sorted({name for f in all_figures for name in f.groups})
    if len(names) > 1:
        rows = [[name, *(_group_share(f, name) for f in all_figures)] for name in names]
        parts.append(_grid([["solved of", *(f.arm for f in all_figures)], *rows]))
    for f in all_figures:
        rows = [[name, *(str(row[end]) for end in ENDS)] for name, row in f.matrix.items()]
        parts.append(_grid([[f"{f.arm}: first attempt", *ENDS], *rows]))
        parts.append(f"{f.arm} ended: " + ", ".join(f"{count} {end}" for end, count in f.ends.items()))
    if pairs:
        rows = [[p.one, p.other, str(p.count), str(p.only_one), str(p.only_other), f"{p.p:.4f}"] for p in pairs]
        parts.append(_grid([["paired", "with", "n", "only first", "only second", "exact McNemar p"], *rows]))
    if rows := [_ratio_row(p) for p in pairs if p.ratios]:
        parts.append(_grid([["right in both", "with", "n", "ratio of first", "of second"], *rows]))
    return "\n\n".join(parts)


def rows_of(all_figures: Sequence[Figures]) -> Sequence[tuple[str, Cell]]:
    """The rows of the table; those about gains where a run had a goal, those about limits where a task had some."""
    gains = GAIN_ROWS if any(f.gains for f in all_figures) else ()
    limits = LIMIT_ROWS if any(f.limits for f in all_figures) else ()
    return (*ROWS, *gains, *limits)


def _share(good: int, count: int) -> str:
    low, high = wilson(good, count)
    return f"{good} ({100 * low:.0f}-{100 * high:.0f} %)"


def _ratio_row(pair: Pair) -> list[str]:
    first, second = (statistics.fmean(each) for each in zip(*pair.ratios, strict=True))
    return [pair.one, pair.other, str(len(pair.ratios)), f"{first:.3f}", f"{second:.3f}"]


def format_csv(all_figures: Sequence[Figures]) -> str:
    """The report as CSV: one line per arm, the curve last."""
    columns = _curve_columns(all_figures)
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    rows = rows_of(all_figures)
    names = [name.strip() for name, _cell in rows]
    writer.writerow(["arm", "model", *names, *(f"within {k}" for k in columns)])
    for f in all_figures:
        writer.writerow([f.arm, f.model, *(cell(f) for _name, cell in rows), *(_solved_within(f, k) for k in columns)])
    return buffer.getvalue()


def _group_share(f: Figures, name: str) -> str:
    solved, count = f.groups.get(name, (0, 0))
    return f"{solved}/{count}"


def _curve_columns(all_figures: Sequence[Figures]) -> list[int]:
    """Numbers of attempts that have a column: all of the first ones, then fewer."""
    longest = max((len(f.curve) - 1 for f in all_figures), default=0)
    return [k for k in range(longest) if k <= ALL_UP_TO or k in FURTHER_COLUMNS] + [longest]


def _solved_within(f: Figures, attempts: int) -> int:
    """Task-runs solved within so many attempts; an arm that stopped earlier keeps its last number."""
    return f.curve[min(attempts, len(f.curve) - 1)]


def _solved_between(f: Figures, low: int, high: int) -> int:
    return sum(count for attempts, count in f.histogram.items() if low < attempts <= high)


def _grid(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
