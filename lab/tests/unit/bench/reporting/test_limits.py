"""Limits that attempts keep."""

from __future__ import annotations

import csv
import io

from greenloop_lab.bench.reporting import report
from greenloop_lab.bench.reporting.figures import compute_figures
from greenloop_lab.bench.reporting.limits import compute_limits


def kept(done, *counts):
    for row, limits in zip(done.attempts, counts, strict=False):
        row["limits"] = list(limits)
    return done


def test_limits_kept_by_the_first_and_the_last_attempt(make):
    done = [
        kept(make("a", "1", ("Constraint", False), ("", True)), (0, 4), (2, 4), (4, 4)),
        kept(make("a", "2", ("", True)), (0, 2), (2, 2)),
        kept(make("a", "3", ("NoCode", False)), (0, 2), (0, 0)),
        make("a", "4", ("", True)),  # a task without limits
    ]
    found = compute_limits(done)
    assert (found.first, found.last) == ((0.5, 1.0, 0.0), (1.0, 1.0, 0.0))
    figures = compute_figures(done, frozenset())
    (row,) = csv.DictReader(io.StringIO(report.format_csv(figures)))
    assert row["all limits kept at first"].startswith("1 (")
    assert row["share of limits kept at first"] == "0.50"
    text = report.format_report(figures, [])
    assert "\n  at last                       0.67\n" in f"{text}\n" or "0.67" in text


def test_tasks_without_limits_have_no_row(make):
    figures = compute_figures([make("a", "1", ("", True))], frozenset())
    assert figures[0].limits is None
    assert "limits" not in report.format_report(figures, [])
