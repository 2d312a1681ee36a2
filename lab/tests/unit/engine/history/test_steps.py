"""Stored runs as trajectories."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from double_problem import BASELINE
from greenloop.core.records.outcome import StopReason
from greenloop.core.records.spec import Region
from greenloop.engine.history.rows import StoredProblem
from greenloop.engine.history.store import History
from greenloop_lab.engine.history.steps import solved_by_target, stored_trajectories, to_trajectory
from learning_runs import BODY, REGION, RIGHT, add_run, attempt, chain, unclean


def test_one_run_one_workspace_or_all_of_them_oldest_first(tmp_path):
    history = History.open(tmp_path / "h.sqlite3")
    first, second = add_run(history, chain()), add_run(history, chain(), root=Path("/other"))
    assert [run.id for run in stored_trajectories(history)] == [str(first), str(second)]
    assert [run.id for run in stored_trajectories(history, Path("/other"))] == [str(second)]
    assert [run.id for run in stored_trajectories(history, run=first)] == [str(first)]


def test_how_often_a_target_was_solved(tmp_path):
    history = History.open(tmp_path / "h.sqlite3")
    record = history.run(add_run(history, chain()))
    for change in ({"solved": False, "reason": StopReason.STALLED}, {"reason": StopReason.CANCELLED}):
        history.finish_run(add_run(history, chain()), replace(record.outcome, **change))
    assert solved_by_target(history) == {(record.root, record.target): (2, 1)}


def test_the_users_code_of_an_older_run_is_that_of_its_result(tmp_path):
    history = History.open(tmp_path / "h.sqlite3")
    record = history.run(add_run(history, chain()))
    before = "import re\n" + BODY.format("None")
    moved = Region(path="m.py", qualname="double", start=2, end=4)
    attempts = tuple(
        replace(each, candidate=replace(each.candidate, texts={moved: BODY.format(RIGHT)}))
        for each in record.attempts[1:]
    )
    record = replace(record, attempts=attempts, outcome=replace(record.outcome, before={"m.py": before}))
    assert to_trajectory(record, StoredProblem()).code == {moved: BODY.format("None")}
    assert to_trajectory(record, history.problem(record.id)).code[REGION].endswith("raise NotImplementedError\n")


def test_what_the_gate_let_through_is_clean(tmp_path):
    history = History.open(tmp_path / "h.sqlite3")
    record = history.run(add_run(history, [BASELINE, attempt(1, RIGHT), unclean(2)]))
    steps = to_trajectory(record, history.problem(record.id)).steps
    assert [step.is_clean for step in steps] == [False, True, False]
    assert steps[2].feedback == "name `y` is not defined."
