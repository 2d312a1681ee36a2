"""Samples, merges without a model, and one question about both."""

from __future__ import annotations

from greenloop.core.records.attempt import Move
from greenloop_lab.drafting.search import merge
from merge_run import plan_next, steps_after_samples


def test_the_question_is_about_the_best_and_what_passes_most_of_the_rest():
    (draft,) = plan_next(merge.plan, "a", "ab", "bcd", "")
    assert (draft.move, draft.prompt, draft.parent, draft.others) == (Move.REFINE, "merge", 3, (2,))


def test_each_pair_is_asked_about_once_and_then_the_best_is_refined():
    (draft,) = plan_next(merge.plan, "a", "b", "", "", "c")
    assert (draft.move, draft.prompt) == (Move.REFINE, "")


def test_a_better_answer_is_merged_again():
    (draft,) = plan_next(merge.plan, "a", "b", "", "", "cd")
    assert (draft.prompt, draft.parent, draft.others) == ("merge", 6, (1,))  # 5 is the merge that brought nothing


def test_it_merges_and_then_asks():
    assert steps_after_samples(merge.plan) == (True, "merge")
