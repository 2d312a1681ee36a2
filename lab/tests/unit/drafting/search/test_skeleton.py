"""A skeleton that is filled one function at a time: which is next, what it is shown, when one is refined."""

from __future__ import annotations

from filling_problem import BASELINE, PROBLEM, REGIONS, attempt, failed, names
from greenloop.core.records.attempt import Move
from greenloop.drafting.search import ladder
from greenloop_lab.drafting.search import skeleton


def play(plan, failures, problem=PROBLEM):
    """The drafts, where the n-th attempt fails as the n-th of `failures` says."""
    attempts, drafts = [BASELINE], []
    for failure in failures:
        (draft,) = plan(problem, attempts)
        drafts.append(draft)
        attempts.append(attempt(len(attempts), draft, failure, failure))
    return drafts


def test_one_function_after_the_other_each_shown_what_is_filled():
    drafts = play(skeleton.plan, [failed(3, "Stack.push"), failed(4, "Stack.pop"), failed(5)])
    assert [(each.move, *names(each.regions), each.parent, each.prompt) for each in drafts] == [
        (Move.DRAFT, "__init__", 0, ""),
        (Move.DRAFT, "push", 1, "filled"),
        (Move.DRAFT, "pop", 2, "filled"),
    ]


def test_a_function_in_which_cases_still_fail_is_refined_at_most_twice():
    drafts = play(skeleton.plan, [failed(2, "Stack.__init__")] * 5)
    assert [(each.move, *names(each.regions)) for each in drafts] == [
        (Move.DRAFT, "__init__"),
        (Move.REFINE, "__init__"),
        (Move.DRAFT, "push"),  # the same refinement again would bring the same answer
        (Move.REFINE, "__init__"),
        (Move.DRAFT, "pop"),
    ]


def test_a_refinement_counts_where_the_cases_get_further_by_it():
    worse = play(skeleton.plan, [failed(3, "Stack.__init__"), failed(2, "Stack.__init__"), failed(3)])
    further = play(skeleton.plan, [failed(2, "Stack.__init__"), failed(3, "Stack.push"), failed(3)])
    assert [each.parent for each in worse] == [0, 1, 1]
    assert [each.parent for each in further] == [0, 1, 2]


def test_one_function_alone_is_the_ladders():
    problem = PROBLEM.focused(REGIONS[:1])
    assert list(skeleton.plan(problem, [BASELINE])) == list(ladder.plan(problem, [BASELINE]))
