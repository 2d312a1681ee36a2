"""What runs with a goal gained: how many results are better, and by how much."""

from __future__ import annotations

import pytest

from greenloop_lab.bench.reporting import report
from greenloop_lab.bench.reporting.figures import compare_pairs, compute_figures
from greenloop_lab.bench.reporting.gains import compute_gains, ratio

WRONG = ("NotFaster", True)  # not faster, but right


@pytest.fixture
def gained(make):
    """Makes a task-run with a goal; `ratio` is what was measured of an accepted result."""

    def gained(arm, task, *attempts, ratio=None, **more):
        gain = None if ratio is None else {"goal": "time", "before": 0.05, "after": 0.05 * ratio, "ratio": ratio}
        return make(arm, task, *attempts, goal="time", gain=gain, **more)

    return gained


@pytest.fixture
def table(gained):
    """Arm a: 10 times and twice as fast, right but not faster, wrong. Arm b: 4 times as fast, over-fit, wrong, right."""
    return [
        gained("a", "1", ("", True), ratio=0.1),
        gained("a", "2", WRONG, ("", True), ratio=0.5),
        gained("a", "3", WRONG),
        gained("a", "4", ("Different", False)),
        gained("b", "1", ("", True), ratio=0.25),
        gained("b", "2", ("", False), ratio=0.01),
        gained("b", "3", ("Different", False)),
        gained("b", "4", WRONG),
    ]


def test_the_figures_of_a_fixed_table(table):
    a, b = (each.gains for each in compute_figures(table, frozenset()))
    assert (a.count, a.right, a.optimized, a.doubled) == (4, 3, 2, 2)
    assert a.speedups == pytest.approx((10, 2, 1, 1))
    assert (a.mean, a.geometric_mean) == pytest.approx((3.5, 20**0.25))
    assert a.measuring == pytest.approx(10)  # 0.5 seconds of tests, 0.05 of the workload
    assert (b.right, b.optimized, b.doubled) == (2, 1, 1)
    assert b.speedups == pytest.approx((4, 1, 1, 1))


def test_a_result_that_is_wrong_or_gains_less_than_a_tenth_does_not_count(gained):
    gains = compute_gains(
        [
            gained("a", "1", ("", True), ratio=0.91),
            gained("a", "2", ("", True), ratio=0.9),
            gained("a", "3", ("", False), ratio=0.5),
        ]
    )
    assert (gains.right, gains.optimized, gains.doubled) == (2, 1, 0)
    assert gains.speedups == pytest.approx((1 / 0.91, 1 / 0.9, 1))


def test_ratios_are_compared_on_what_is_right_in_both_arms(table):
    (pair,) = compare_pairs(table, frozenset())
    assert pair.ratios == [(0.1, 0.25)]
    assert (pair.count, pair.only_one, pair.only_other) == (4, 1, 0)


def test_runs_without_a_goal_have_no_gains(make):
    done = [make("a", "1", ("", True)), make("b", "1", ("", True))]
    assert [each.gains for each in compute_figures(done, frozenset())] == [None, None]
    assert compare_pairs(done, frozenset())[0].ratios == ()
    assert "%Opt" not in report.format_report(compute_figures(done, frozenset()), [])


def test_the_report_shows_shares_with_their_intervals(table):
    figures, pairs = compute_figures(table, frozenset()), compare_pairs(table, frozenset())
    rows = [" ".join(line.split()) for line in report.format_report(figures, pairs).splitlines()]
    assert "right 3 (30-95 %) 2 (15-85 %)" in rows
    assert "right, 10 % less (%Opt) 2 (15-85 %) 1 (5-70 %)" in rows
    assert "right, 50 % less 2 (15-85 %) 1 (5-70 %)" in rows
    assert "speed-up 3.50 1.75" in rows
    assert "geometric mean 2.11 1.41" in rows
    assert rows[-2:] == ["right in both with n ratio of first of second", "a b 1 0.100 0.250"]
    head, first, second = report.format_csv(figures).splitlines()
    assert "right, 10 % less (%Opt)" in head
    assert "3.50" in first.split(",")
    assert "1.75" in second.split(",")


def test_a_ratio_that_rounds_to_nothing_is_no_division_by_nothing(gained):
    done = gained("a", "1", ("", True), ratio=0.0)
    assert ratio(done.run) > 0
    assert compute_gains([done]).optimized == 1
