"""Results of the harness as rows: with the runs that are stored beside them, or with the answers alone."""

from __future__ import annotations

from typing import Any

import pytest

from double_problem import BASELINE, HALF, RIGHT, WRONG, make_answer
from greenloop.core.errors import UsageError
from greenloop.core.records.attempt import Attempt
from greenloop.engine.history.store import History
from greenloop_lab.bench import results
from greenloop_lab.bench.results import TaskRunResult
from greenloop_lab.bench.trajectories import check_answers, read_trajectories
from greenloop_lab.engine.history.learning import Export, Wanted
from learning_runs import add_run, attempt, chain


def done(make, attempts: list[Attempt], right: dict[int, bool], **more: Any) -> TaskRunResult:
    """The task-run of these attempts, as the harness writes it; `right`: what the judge says of their numbers."""
    made = make("default", "mbpp-1", verified="verified", right=True, shown_passed=True, **more)
    head = {"arm": "default", "task": "mbpp-1", "repeat": 0}
    rows = [
        {**results._attempt_row(each, None), "kind": "attempt", **head, "right": right.get(each.number)}
        for each in attempts
    ]
    return TaskRunResult(run=made.run, attempts=rows)


def export(path, kind: str, **wanted: Any) -> list[dict[str, Any]]:
    check_answers([path])
    return list(Export(runs=lambda: read_trajectories([path]), wanted=Wanted(kind=kind, **wanted), environ={}).rows())


def test_answers_alone_give_code_scores_and_verdicts(make, tmp_path):
    results.append(tmp_path / "r.jsonl", done(make, chain(), {1: False, 2: False, 3: True}))
    rows = export(tmp_path / "r.jsonl", "turns")
    assert [(row["first_score"], row["second_score"]) for row in rows] == [(0.0, 0.5), (0.5, 1.0)]
    assert f"return {HALF}" in rows[0]["second_code"]
    (row,) = export(tmp_path / "r.jsonl", "sft")
    assert (row["source"], row["run"], row["target"]) == ("bench", "default/mbpp-1/0", "mbpp-1")
    assert f"return {RIGHT}" in row["completion"][0]["content"]


def test_the_stored_run_has_the_users_code_the_feedback_and_the_templates(make, tmp_path):
    history = History.open(tmp_path / "r.history.sqlite3")
    run = add_run(history, chain(messages=True))
    history.close()
    results.append(tmp_path / "r.jsonl", done(make, chain(), {3: True}, history=run))
    (row,) = export(tmp_path / "r.jsonl", "trajectory")
    assert "NotImplementedError" in row["attempts"][0]["code"]
    assert row["attempts"][1]["templates"] == [{"name": "system", "hash": "0123456789ab"}]
    assert row["attempts"][3]["right"] is True
    assert (row["target"], row["project"]) == ("mbpp-1", "")
    assert "test_m.py::test_five" in row["problem"]


def test_a_stored_run_with_other_answers_is_another_run(make, tmp_path):
    history = History.open(tmp_path / "r.history.sqlite3")
    run = add_run(history, [BASELINE, attempt(1, WRONG[3]), attempt(2, RIGHT)])
    history.close()
    results.append(tmp_path / "r.jsonl", done(make, chain(), {}, history=run))
    (row,) = export(tmp_path / "r.jsonl", "trajectory")
    assert len(row["attempts"]) == 4
    assert row["attempts"][1]["templates"] == []


def test_what_the_judge_refused_is_a_hard_negative_and_no_example(make, tmp_path):
    results.append(tmp_path / "r.jsonl", done(make, chain(), {1: False, 2: False, 3: False}))
    rows = export(tmp_path / "r.jsonl", "negatives")
    assert [(row["attempt"], row["refused_by"]) for row in rows] == [(3, "judge"), (2, "tests")]
    assert export(tmp_path / "r.jsonl", "sft") == []
    assert export(tmp_path / "r.jsonl", "trajectory")[0]["attempts_needed"] is None
    assert [row["chosen_attempt"] for row in export(tmp_path / "r.jsonl", "pairs")] == [2]


def test_a_verified_result_that_the_judge_calls_wrong_is_not_verified(make, tmp_path):
    wrong = done(make, chain(), {3: False})
    results.append(tmp_path / "r.jsonl", TaskRunResult(run={**wrong.run, "right": False}, attempts=wrong.attempts))
    assert export(tmp_path / "r.jsonl", "trajectory", verified=True) == []
    assert len(export(tmp_path / "r.jsonl", "trajectory")) == 1


def test_the_solve_rate_of_a_task_is_over_all_arms_and_repeats(make, tmp_path):
    solved = done(make, chain(), {3: True})
    unsolved = {**solved.run, "repeat": 1, "right": False, "shown_passed": False}
    rows = [{**row, "repeat": 1} for row in solved.attempts]
    results.append(tmp_path / "r.jsonl", solved)
    results.append(tmp_path / "r.jsonl", TaskRunResult(run=unsolved, attempts=rows))
    results.append(tmp_path / "r.jsonl", make("default", "mbpp-2", reason="model"))
    exported = export(tmp_path / "r.jsonl", "trajectory")
    assert [(row["target_runs"], row["target_solve_rate"]) for row in exported] == [(2, 0.5), (2, 0.5)]


def test_an_answer_that_was_cut_has_no_code(make, tmp_path):
    long = f"{make_answer(WRONG[0])}\n{'x' * results.MAX_MESSAGE}"
    attempts = [BASELINE, attempt(1, WRONG[0]), attempt(2, RIGHT)]
    made = done(make, attempts, {})
    rows = [dict(row) for row in made.attempts]
    rows[1]["answer"] = long[: results.MAX_MESSAGE]
    results.append(tmp_path / "r.jsonl", TaskRunResult(run=made.run, attempts=rows))
    (row,) = export(tmp_path / "r.jsonl", "turns")
    assert (row["first_code"], bool(row["second_code"])) == ("", True)


def test_results_without_answers_are_a_sentence(make, tmp_path):
    results.append(tmp_path / "r.jsonl", make("a", "1", ("", True)))
    with pytest.raises(UsageError, match="no answer of a model") as caught:
        check_answers([tmp_path / "r.jsonl"])
    assert "Run the experiment again" in caught.value.remedy
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(UsageError, match="no task-run to export"):
        check_answers([tmp_path / "empty.jsonl"])
