"""Chosen and rejected: what is chosen always has the higher reward."""

from __future__ import annotations

from itertools import pairwise

from double_problem import BASELINE
from exported import export, rows_of
from greenloop.engine.history.store import History
from learning_runs import HALF, WRONG, add_run, attempt, chain, measured, refused


def test_the_chosen_one_scores_higher_than_the_rejected_one(tmp_path):
    rows = export(tmp_path, "pairs", chain(), [BASELINE, attempt(1, WRONG[0]), attempt(2, HALF)])
    assert [(row["chosen_attempt"], row["rejected_attempt"]) for row in rows] == [(3, 1), (3, 2), (2, 1)]
    assert all(row["chosen_score"] > row["rejected_score"] for row in rows)
    assert all("NotImplementedError" in row["prompt"][0]["content"] for row in rows)


def test_the_rows_of_a_run_are_a_ranked_list_for_one_prompt(tmp_path):
    rows = export(tmp_path, "pairs", chain())
    assert len({row["prompt"][0]["content"] for row in rows}) == 1
    ranked = sorted(rows, key=lambda row: row["rejected_rank"])
    assert [row["rejected_rank"] for row in ranked] == [2, 3]
    assert all(better["rejected_reward"] > worse["rejected_reward"] for better, worse in pairwise(ranked))


def test_of_two_that_pass_the_faster_one_is_chosen_and_the_users_code_is_the_slowest(tmp_path):
    history = History.open(tmp_path / "h.sqlite3")
    slower = measured(1, 0.8, accepted=False)
    add_run(history, [BASELINE, slower, measured(2, 0.4, accepted=True)], goal="faster")
    rows = rows_of(history, "pairs")
    assert {(row["chosen_attempt"], row["chosen_time"]) for row in rows} == {(2, 0.4)}
    assert [(row["rejected_attempt"], row["rejected_time"]) for row in rows] == [(0, 1.0), (1, 0.8)]
    assert all(row["chosen_reward"] > row["rejected_reward"] for row in rows)


def test_what_acceptance_refused_is_rejected_and_never_chosen(tmp_path):
    rows = export(tmp_path, "pairs", [BASELINE, refused(1), attempt(2, HALF), attempt(3, "x * 2", parent=0)])
    hard = [row for row in rows if row["refused_by"] == "acceptance"]
    assert [(row["chosen_attempt"], row["rejected_attempt"], row["is_hard"]) for row in hard] == [(3, 1, True)]


def test_without_a_better_one_there_is_no_pair(tmp_path):
    assert export(tmp_path, "pairs", [BASELINE, refused(1)], [BASELINE, refused(1), attempt(2, HALF)]) == []


def test_hard_negatives_are_those_pairs_alone(tmp_path):
    rows = export(tmp_path, "pairs", [BASELINE, attempt(1, WRONG[0]), *chain()[2:]], hard=True)
    assert [row["rejected_attempt"] for row in rows] == [2]
