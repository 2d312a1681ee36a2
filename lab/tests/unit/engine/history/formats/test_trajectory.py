"""A run with all its attempts."""

from __future__ import annotations

from double_problem import BASELINE
from exported import export
from learning_runs import WRONG, attempt, chain


def test_a_run_is_plan_request_answer_error_and_edit(tmp_path):
    (row,) = export(tmp_path, "trajectory", chain(messages=True))
    start, first, _second, last = row["attempts"]
    assert ("NotImplementedError" in start["code"], start["move"]) == (True, "")
    assert (first["plan"], first["error_class"], first["error_group"]) == ("Add one.", "AssertionError", "logic")
    assert [each["role"] for each in first["messages"]] == ["system", "user"]
    assert "return x + 1" in first["answer"]
    assert first["feedback"] == "double gave x + 1."
    assert [each["parent"] for each in row["attempts"]] == [None, 0, 1, 2]
    assert last["accepted"]


def test_a_run_says_how_difficult_its_target_is(tmp_path):
    solved, unsolved = export(tmp_path, "trajectory", chain(), [BASELINE, attempt(1, WRONG[0])])
    assert (solved["attempts_needed"], unsolved["attempts_needed"]) == (3, None)
    assert (solved["target_runs"], solved["target_solve_rate"], unsolved["target_solve_rate"]) == (2, 0.5, 0.5)


def test_each_attempt_has_its_model_and_the_version_of_its_prompt(tmp_path):
    (row,) = export(tmp_path, "trajectory", chain())
    asked = row["attempts"][1:]
    assert {each["model"] for each in asked} == {"scripted"}
    assert all(each["templates"] == [{"name": "system", "hash": "0123456789ab"}] for each in asked)


def test_a_run_without_an_attempt_is_no_row(tmp_path):
    assert export(tmp_path, "trajectory", [BASELINE]) == []
