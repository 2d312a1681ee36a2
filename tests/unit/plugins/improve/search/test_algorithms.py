"""Algorithms of a planner become labelled candidates."""

from __future__ import annotations

from greenloop.core.records.attempt import Move
from greenloop.plugins.improve.search import algorithms
from search_run import PROBLEM, Run

THREE = ["one pass with a set, O(n)", "sort first, O(n log n)", "a dictionary of all of the sums, built once, O(n)"]


def test_three_algorithms_are_three_labelled_candidates():
    drafts = algorithms.plan(PROBLEM, Run(algorithms.plan, algorithms=THREE).attempts)
    assert [draft.hint for draft in drafts] == THREE
    assert [draft.label for draft in drafts] == [*THREE[:2], "a dictionary of all of the sums, built …"]
    assert {(draft.parent, draft.move, draft.prompt) for draft in drafts} == {(0, Move.DRAFT, "algorithm")}


def test_without_algorithms_the_code_is_drafted_once():
    (draft,) = algorithms.plan(PROBLEM, Run(algorithms.plan).attempts)
    assert (draft.label, draft.prompt) == ("", "")


def test_the_best_of_them_is_refined():
    run = Run(algorithms.plan, algorithms=THREE).ends(0.5).ends(0.9).ends(0.7)
    draft = run.next()
    assert (draft.parent, draft.move, draft.label) == (2, Move.REFINE, "")
