"""Accepted answers, and what they answer."""

from __future__ import annotations

from double_problem import BASELINE
from exported import export, rows_of
from greenloop.core.records.attempt import Move
from greenloop.core.records.outcome import Verified
from greenloop.engine.history.store import History
from learning_runs import RIGHT, SENT, WRONG, add_run, attempt, chain, refused


def test_only_what_was_accepted_is_a_row(tmp_path):
    (row,) = export(tmp_path, "sft", chain(), [BASELINE, attempt(1, WRONG[0])], [BASELINE, refused(1)])
    assert (row["run"], row["attempt"], row["error_class"]) == ("1", 3, "AssertionError")
    assert f"return {RIGHT}" in row["completion"][0]["content"]


def test_messages_as_sent_go_with_the_answer_as_given(tmp_path):
    (row,) = export(tmp_path, "sft", [BASELINE, attempt(1, RIGHT, messages=True)])
    assert row["as_sent"]
    assert [each["content"] for each in row["prompt"]] == [each.content for each in SENT]
    assert row["completion"] == [{"role": "assistant", "content": attempt(1, RIGHT).answer}]


def test_without_them_the_prompt_is_problem_faulty_code_and_feedback(tmp_path):
    (row,) = export(tmp_path, "sft", chain())
    assert not row["as_sent"]
    problem, faulty, feedback = row["prompt"]
    assert "raise NotImplementedError" in problem["content"]
    assert (faulty["role"], "return x + 2" in faulty["content"]) == ("assistant", True)
    assert feedback["content"] == "double gave x + 2."


def test_a_change_that_no_model_was_asked_for_is_its_code(tmp_path):
    (row,) = export(tmp_path, "sft", [BASELINE, attempt(1, RIGHT, move=Move.MUTATE)])
    assert (row["move"], row["templates"]) == ("mutate", [])
    assert row["code"].strip() in row["completion"][0]["content"]


def test_no_row_of_the_verified_export_is_of_a_run_that_is_not(tmp_path):
    history = History.open(tmp_path / "h.sqlite3")
    add_run(history, chain())
    add_run(history, chain(), verified=Verified.PARTIALLY)
    add_run(history, [BASELINE, attempt(1, WRONG[0])])
    assert [row["run"] for row in rows_of(history, "sft")] == ["1", "2"]
    for kind in ("sft", "trajectory", "turns", "edits"):
        rows = rows_of(history, kind, verified=True)
        assert rows
        assert {(row["run"], row["verified"]) for row in rows} == {("1", True)}
