"""A failure that repeats leads to a new beginning."""

from __future__ import annotations

import pytest

from greenloop.core.records.attempt import Move
from greenloop.core.records.model import Role
from greenloop.drafting.search import _progress, restart_on_repeat
from search_run import Run


def test_the_same_failure_twice_restarts_from_the_root():
    run = Run(restart_on_repeat.plan).ends(0, "1 == 2").ends(0, "1 == 2")
    assert (run.next().move, run.next().parent, run.next().role) == (Move.RESTART, 0, Role.DRAFTER)


def test_what_only_differs_by_run_is_the_same_failure():
    run = Run(restart_on_repeat.plan).ends(0, "<A object at 0x7f10> != 2").ends(0, "<A object at 0x55aa> != 2")
    assert run.next().move is Move.RESTART


def test_two_different_slips_of_one_class_are_not_a_repetition_but_three_are():
    run = Run(restart_on_repeat.plan).refused("SyntaxError").refused("SyntaxError")
    assert run.next().move is Move.REFINE
    assert run.refused("SyntaxError").next().move is Move.RESTART


@pytest.mark.parametrize("word", _progress.COPIES)
def test_code_that_came_back_is_no_progress_at_all(word):
    run = Run(restart_on_repeat.plan).ends(0.5).refused(word)
    assert run.next().move is Move.RESTART


def test_a_stuck_search_first_changes_its_strategy_and_then_ends():
    run = Run(restart_on_repeat.plan).ends(0, "same")
    moves = []
    while draft := run.next():
        moves.append(draft.move)
        run.ends(0, "same")
    assert moves == [Move.REFINE] + [Move.RESTART] * _progress.SWITCHES


def test_a_better_score_renews_the_patience():
    run = Run(restart_on_repeat.plan).ends(0, "same")
    for _ in range(4):
        run.ends(0, "same")
    run.ends(0.5, "better").ends(0.5, "better")
    assert run.next().move is Move.RESTART
