"""What looked right and was refused, best first."""

from __future__ import annotations

from double_problem import BASELINE
from exported import export
from learning_runs import HALF, RIGHT, WRONG, attempt, refused


def test_failing_attempts_are_listed_best_first(tmp_path):
    attempts = [BASELINE, attempt(1, WRONG[0]), attempt(2, HALF), refused(3), attempt(4, RIGHT)]
    rows = export(tmp_path, "negatives", attempts)
    assert [(row["attempt"], row["rank"], row["refused_by"]) for row in rows] == [
        (3, 1, "acceptance"),
        (2, 2, "tests"),
    ]
    assert [row["score"] for row in rows] == [1.0, 0.5]


def test_what_passed_nothing_is_no_hard_negative(tmp_path):
    assert export(tmp_path, "negatives", [BASELINE, attempt(1, WRONG[0])]) == []
