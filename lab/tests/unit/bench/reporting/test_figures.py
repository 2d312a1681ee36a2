"""What the report says, out of records alone."""

from __future__ import annotations

import csv
import io
import math

import pytest

from greenloop_lab.bench import results
from greenloop_lab.bench.reporting import report
from greenloop_lab.bench.reporting.figures import compare_pairs, compute_figures, mcnemar, transitions, wilson
from greenloop_lab.bench.results import BROKEN

broken = frozenset(BROKEN)


@pytest.mark.parametrize(
    ("good", "count", "low", "high"),
    # Newcombe (1998), table I: 81/263, 15/148, 0/20, 1/29, method 3.
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson(good, count, low, high):
    assert wilson(good, count) == (pytest.approx(low, abs=1e-4), pytest.approx(high, abs=1e-4))


@pytest.mark.parametrize(("one", "other"), [(0, 0), (1, 0), (3, 3), (10, 2), (0, 8), (50, 80)])
def test_mcnemar_is_the_exact_two_sided_binomial(one, other):
    count = one + other
    observed = math.comb(count, one)
    # By definition: all outcomes that are no more likely than the one that came.
    every = sum(math.comb(count, k) for k in range(count + 1) if math.comb(count, k) <= observed)
    assert mcnemar(one, other) == pytest.approx(min(1.0, every / 2**count))


def test_figures(six):
    a, b = compute_figures(six, broken)
    assert (a.arm, a.count, a.solved, a.shown, a.overfit, a.first_right, a.last_right) == ("a", 4, 2, 3, 1, 1, 2)
    assert a.curve == (0, 1, 2, 2)
    assert a.histogram == {1: 1, 2: 2, 3: 1}
    assert a.mean_attempts == 1.5
    assert (a.means["calls"], a.means["prompt_tokens"], a.means["completion_tokens"], a.mean_tokens) == (
        2.0,
        200.0,
        20.0,
        220.0,
    )
    assert (a.gained, a.lost) == (1, 0)
    assert a.matrix["AssertionError"] == {"fixed": 1, "same": 1, "other": 0, "regressed": 0}
    assert a.matrix["TypeError"] == {"fixed": 0, "same": 0, "other": 1, "regressed": 0}
    assert a.ends == {"solved": 2, "over-fit": 1, "attempts": 1}
    assert (b.count, b.broken, b.solved) == (2, 1, 1)


def test_arms_are_compared_on_what_both_have(six):
    (pair,) = compare_pairs(six, broken)
    assert (pair.count, pair.only_one, pair.only_other, pair.p) == (2, 1, 0, 1.0)


def test_steps_from_right_to_wrong_are_seen(make):
    done = make("a", "1", ("AssertionError", True), ("AssertionError", False), ("", True))
    assert transitions(done) == [(True, False), (False, True)]
    (lost,) = compute_figures([make("a", "1", ("AssertionError", True), ("AssertionError", False))], broken)
    assert (lost.lost, lost.matrix["AssertionError"]["regressed"]) == (1, 1)


def test_solved_by_kind_and_by_what_broke_it(make):
    done = [
        make("a", "1", ("", True), task_kind="mutant of 1 line", operators=["constant"]),
        make("a", "2", ("X", False), task_kind="mutant of 2 lines", operators=["constant", "comparison"]),
        make("b", "1", ("X", False), task_kind="mutant of 1 line", operators=["constant"]),
    ]
    a, b = compute_figures(done, broken)
    assert a.groups["operator: constant"] == (1, 2)
    assert a.groups["kind: mutant of 2 lines"] == (0, 1)
    rows = [line.split() for line in report.format_report([a, b], []).splitlines()]
    assert ["operator:", "comparison", "0/1", "0/0"] in rows


def test_what_the_gate_refused_though_it_was_right_is_counted(make):
    done = make("a", "1", ("UndefinedName", True), ("UndefinedName", False), ("", True))
    for row in done.attempts[1:3]:
        row["status"] = "refused"
    (found,) = compute_figures([done], broken)
    assert (found.refused, found.refused_right) == (2, 1)


def test_repeats_have_a_deviation(make):
    done = [make("a", task, ("", task <= str(n)), repeat=n) for n in range(3) for task in "12"]
    (found,) = compute_figures(done, broken)
    assert found.repeats == (0, 1, 2)
    assert found.deviation == pytest.approx(0.5)


def test_the_file_gives_the_same_report_again(six, tmp_path):
    path = tmp_path / "r.jsonl"
    for done in six:
        results.append(path, done)
    again = results.read([path])
    assert compute_figures(again, broken) == compute_figures(six, broken)
    text = report.format_report(compute_figures(six, broken), compare_pairs(six, broken))
    assert report.format_report(compute_figures(again, broken), compare_pairs(again, broken)) == text
    for column in ("solved", "wall seconds", "tokens", "attempts on solved", "confidence"):
        assert f"\n{column} " in text
    rows = list(csv.DictReader(io.StringIO(report.format_csv(compute_figures(again, broken)))))
    assert [row["arm"] for row in rows] == ["a", "b"]
    assert (rows[0]["solved"], rows[0]["within 2"], rows[1]["within 3"]) == ("2 (50 %)", "2", "1")


def test_nothing_done_is_a_sentence():
    assert (
        report.format_report(compute_figures([], broken), compare_pairs([], broken)) == "No task-run is finished yet."
    )
