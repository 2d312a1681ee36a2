"""A tree of strategies, solutions and reflections."""

from __future__ import annotations

import pytest

from greenloop.core.records.attempt import Move
from greenloop_lab.drafting.search import tree
from search_run import Run


def test_the_tree_follows_a_reflection_below_its_solution():
    run = Run(tree.plan, strategies=["sort", "count"]).ends(0.2, reflections=["mind the empty list"])
    assert run.attempts[1].draft.hint == "sort"
    draft = run.next()
    assert (draft.parent, draft.move, draft.hint, draft.prompt) == (1, Move.REFINE, "mind the empty list", "reflection")


def test_a_rejected_branch_goes_back_to_the_strategies():
    run = Run(tree.plan, strategies=["sort", "count"]).ends(0.2, reflections=["a", "b"])
    run.ends(0.3, reject=True, reflections=["c"])
    draft = run.next()
    assert (draft.parent, draft.move, draft.hint, draft.prompt) == (0, Move.DRAFT, "count", "strategy")


def test_a_child_worse_than_its_parent_is_dropped_for_its_sibling():
    run = Run(tree.plan, strategies=["sort"]).ends(0.5, reflections=["a", "b"]).ends(0.4, reflections=["c"])
    assert (run.next().parent, run.next().hint) == (1, "b")


def test_the_critics_score_decides_between_equal_results():
    run = Run(tree.plan, strategies=["sort"]).ends(0.5, reflections=["a"], score=1)
    assert run.ends(0.5, reflections=["c"], score=4).next().parent == 2


def test_an_equal_child_lives_only_where_the_critic_approves():
    alive = Run(tree.plan, strategies=["s"]).ends(0.5, reflections=["a"]).ends(0.5, reflections=["c"], approve=True)
    assert alive.next().parent == 2
    dead = Run(tree.plan, strategies=["s"]).ends(0.5, reflections=["a"]).ends(0.5, reflections=["c"])
    assert dead.next() is None


def test_the_tree_is_no_deeper_than_three():
    run = Run(tree.plan, strategies=["s"]).ends(0.1).ends(0.2).ends(0.3)
    assert run.parents == [0, 1, 2]
    assert run.next() is None


def test_the_tree_ends_when_every_branch_was_tried():
    run = Run(tree.plan, strategies=["s", "t", "u"])
    score = 0.0
    while run.next():
        score += 0.01
        run.ends(round(score, 1), reflections=["a", "b"], approve=True)
    assert len(run.attempts) - 1 <= 3 * (1 + 2 + 4)
    assert [attempt.draft.hint for attempt in run.attempts[1:] if attempt.parent == 0] == ["s", "t", "u"]


@pytest.mark.parametrize("fields", [{}, {"strategies": "no list"}, {"strategies": []}])
def test_a_thinker_that_says_nothing_leaves_drafts_that_grow_hotter(fields):
    run = Run(tree.plan, **fields).ends(0.1, score="high").ends(0.2)
    assert run.parents == [0, 1]
    run.ends(0.1, reject=True).ends(0.1, reject=True).ends(0.1, reject=True)
    assert run.next() is None
    assert run.parents == [0, 1, 2, 0, 0]
    assert run.temperatures == [0.0, 0.0, 0.0, 0.4, 0.8]
    assert {attempt.draft.prompt for attempt in run.attempts[1:]} == {""}
