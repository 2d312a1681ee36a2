"""Instruction, input and output; problem, faulty code, feedback and fixed code."""

from __future__ import annotations

from double_problem import BASELINE
from exported import export
from learning_runs import HALF, RIGHT, WRONG, attempt, chain, unclean


def test_an_edit_is_an_instruction_an_input_and_an_output(tmp_path):
    rows = export(tmp_path, "edits", chain())
    assert [row["instruction"] for row in rows] == ["double gave x + 1.", "double gave x + 2."]
    assert ("x + 1" in rows[0]["input"], "x + 2" in rows[0]["output"]) == (True, True)
    assert [row["output_score"] for row in rows] == [0.5, 1.0]


def test_the_last_edit_is_problem_faulty_feedback_fixed(tmp_path):
    *others, row = export(tmp_path, "edits", chain())
    assert (row["faulty"], row["fixed"], row["feedback"]) == (row["input"], row["output"], "double gave x + 2.")
    assert "test_m.py::test_five" in row["problem"]
    assert "Twice, please." in row["problem"]
    assert all(each["fixed"] is None for each in others)


def test_a_step_that_makes_nothing_better_is_no_edit(tmp_path):
    assert export(tmp_path, "edits", [BASELINE, attempt(1, HALF), attempt(2, WRONG[0]), unclean(3)])[1:] == []


def test_the_first_edit_changes_the_users_code(tmp_path):
    (row,) = export(tmp_path, "edits", [BASELINE, attempt(1, RIGHT)])
    assert "raise NotImplementedError" in row["input"]
    assert (row["parent"], row["feedback"]) == (0, "test_m.py::test_five: NotImplementedError")
