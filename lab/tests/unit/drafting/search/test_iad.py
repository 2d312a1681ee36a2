"""The best and the worst attempt side by side."""

from __future__ import annotations

import pytest

from greenloop.core.records.attempt import Move
from greenloop_lab.drafting.search import iad
from search_run import PROBLEM, Run


def test_iad_keeps_only_improvements_so_the_score_never_falls():
    run = Run(iad.plan)
    scores = [0.2, 0.5, 0.1, 0.5, 0.4, 0.0, 0.3, 0.9, 0.9, 0.1]
    for score in scores:
        run.ends(score)
    assert run.parents == [0, 0, 0, 2, 2, 2, 2, 2, 2, 8]
    reached = [run.attempts[parent].verdict.score for parent in run.parents if parent]
    assert reached == sorted(reached)


def test_iad_shows_the_worst_beside_the_best_attempt():
    run = Run(iad.plan).ends(0.2).ends(0.5).ends(0.1)
    round_ = iad.plan(PROBLEM, run.attempts)
    assert {(draft.parent, draft.hint[:20], draft.prompt, draft.move) for draft in round_} == {
        (2, "1 of 10 tests passed", "compare", Move.REFINE)
    }
    assert len({draft.temperature for draft in round_}) == 3


def test_iad_has_nothing_to_compare_where_all_are_equal():
    run = Run(iad.plan).ends(0.2).ends(0.2).ends(0.2)
    assert (run.next().parent, run.next().hint, run.next().prompt) == (1, "", "")


@pytest.mark.parametrize("readable", [True, False])
def test_iad_ends_after_two_rounds_without_gain(readable):
    run = Run(iad.plan)
    count = 0
    while run.next():
        run.ends(0.5) if readable else run.refused("NoCode")
        count += 1
    assert count == (9 if readable else 6)
