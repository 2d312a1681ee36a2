"""What the charts show, out of records alone."""

from __future__ import annotations

from greenloop_lab.bench.reporting import curves
from greenloop_lab.bench.results import BROKEN

broken = frozenset(BROKEN)


def test_what_is_solved_by_tokens_and_seconds_is_a_rising_curve_of_whole_task_runs(six):
    a, b = curves.compute_curves(six, broken, curves.tokens_of)
    # 110 tokens an attempt: solved at the first and at the second, the longest took three.
    assert (a.arm, a.count, a.points) == ("a", 4, ((0.0, 0), (110.0, 1), (220.0, 2), (330.0, 2)))
    assert [a.solved_at(x) for x in (0, 109, 110, 1_000)] == [0, 0, 1, 2]
    assert (b.count, b.points) == (2, ((0.0, 0), (110.0, 1), (110.0, 1)))  # the one without a result does not count
    seconds, _b = curves.compute_curves(six, broken, curves.seconds_of)
    assert seconds.points[1:] == ((2.6, 1), (4.6, 2), (6.6, 2))


def test_outcomes_by_attempt(six, make):
    for each in six:
        for row in each.attempts:
            row["group"] = "logic" if row["error_class"] == "AssertionError" else ""
    a, b = curves.compute_error_matrices(six, broken)
    assert a.columns == ("1", "2", "3")
    assert a.rows == {"right": (1, 1, 0), "over-fit": (0, 1, 0), "logic": (2, 0, 1), "other": (1, 1, 0)}
    assert b.rows == {"right": (1,), "logic": (1,)}


def test_later_attempts_share_columns_and_those_without_a_model_have_none(make):
    done = make("a", "1", *[("X", False)] * 30)
    for row in done.attempts:
        row["move"] = "mutate" if row["number"] == 1 else "infill"
    (matrix,) = curves.compute_error_matrices([done], broken)
    assert matrix.columns == ("1", "2", "3", "4", "5", "6", "7-10", "11-20", "21-29")
    assert matrix.rows == {"other": (1, 1, 1, 1, 1, 1, 4, 10, 9)}
