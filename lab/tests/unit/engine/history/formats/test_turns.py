"""Two turns in a row, with both scores."""

from __future__ import annotations

from double_problem import BASELINE
from exported import export
from greenloop.core.records.attempt import Move
from learning_runs import HALF, RIGHT, WRONG, attempt, chain, unclean


def test_each_consecutive_pair_is_a_row_with_both_scores(tmp_path):
    rows = export(tmp_path, "turns", chain())
    assert [(row["first"], row["second"]) for row in rows] == [(1, 2), (2, 3)]
    assert [(row["first_score"], row["second_score"]) for row in rows] == [(0.0, 0.5), (0.5, 1.0)]
    assert all("return" in row["first_code"] and "return" in row["second_code"] for row in rows)
    assert all(row["prompt"] and row["is_revision"] for row in rows)


def test_the_difference_of_two_turns_is_the_gain_in_tests_that_pass(tmp_path):
    rows = export(tmp_path, "turns", [BASELINE, attempt(1, HALF), attempt(2, WRONG[0]), attempt(3, RIGHT)])
    assert [row["difference"] for row in rows] == [-0.5, 1.0]
    assert all(row["difference"] == (row["second_passed"] - row["first_passed"]) / row["total"] for row in rows)
    assert rows[0]["feedback"] == f"double gave {HALF}."


def test_what_no_model_answered_is_no_turn(tmp_path):
    rows = export(tmp_path, "turns", [BASELINE, attempt(1, WRONG[0], move=Move.MUTATE), attempt(2, HALF)])
    assert rows == []


def test_another_beginning_is_no_revision(tmp_path):
    (row,) = export(tmp_path, "turns", [BASELINE, attempt(1, HALF), attempt(2, RIGHT, parent=0)])
    assert (row["is_revision"], row["feedback"]) == (False, "")


def test_what_was_not_run_scores_nothing(tmp_path):
    (row,) = export(tmp_path, "turns", [BASELINE, attempt(1, HALF), unclean(2)])
    assert (row["second_score"], row["difference"], row["second_passed"]) == (0.0, -0.5, 0)
