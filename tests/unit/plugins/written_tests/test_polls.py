"""Votes between tests and candidates: clusters, the three rules, what a user's answer makes of it."""

from __future__ import annotations

import pytest

from ballots import make_ballot, make_case
from greenloop.core import registry
from greenloop.plugins.written_tests.polls import Ballot, Poll, find_clusters, rank_by_split


def poll(*ballots: Ballot, cases: str = "abcde", **more) -> Poll:
    return Poll(ballots=ballots, cases=tuple(map(make_case, cases)), **more)


def rule(name: str):
    return registry.load_part("trust", name).rule


def test_candidates_that_behave_alike_are_one_cluster():
    found = find_clusters(poll(make_ballot(1, "ab"), make_ballot(2, "abc"), make_ballot(3, "ab", weight=2)))
    assert [(cluster.weight, [each.attempt for each in cluster.ballots]) for cluster in found] == [
        (3, [1, 3]),
        (1, [2]),
    ]


def test_what_was_seen_tells_candidates_apart_that_fail_the_same_tests():
    one, two = make_ballot(1, "a", seen={"b": "[1]"}), make_ballot(2, "a", seen={"b": "[2]"})
    assert len(find_clusters(poll(one, two, cases="ab"))) == 2


def test_the_smallest_change_stands_first_in_its_cluster():
    (cluster,) = find_clusters(poll(make_ballot(1, "ab", size=9), make_ballot(2, "ab", size=2), cases="ab"))
    assert [each.attempt for each in cluster.ballots] == [2, 1]


def test_the_question_is_the_test_that_splits_the_clusters_best():
    found = find_clusters(
        poll(
            make_ballot(1, "abc", weight=2), make_ballot(2, "ab", weight=1), make_ballot(3, "a", weight=1), cases="abcd"
        )
    )
    # c divides two from two; b three from one; on a and d all agree
    assert rank_by_split(found, tuple(map(make_case, "abcd"))) == ("c", "b", "a", "d")


# -- consensus --------------------------------------------------------------------------------------------------


def test_consensus_waits_for_answers_and_asks_nothing_meanwhile():
    ruling = rule("consensus")(poll(make_ballot(1, "abcde", weight=2)))
    assert (ruling.order, ruling.questions) == ((), ())
    assert "2 of 5 answers" in ruling.why


def test_consensus_decides_with_fewer_when_none_comes_any_more():
    ruling = rule("consensus")(poll(make_ballot(1, "abcde", weight=2), is_final=True))
    assert ruling.order == (1,)


def test_consensus_believes_the_majority_that_passes_the_tests():
    ruling = rule("consensus")(poll(make_ballot(1, "abcd", weight=3), make_ballot(2, "ae", weight=2)))
    assert ruling.order == (1,)
    assert ruling.kept == ("a", "b", "c", "d")


def test_a_test_that_the_majority_fails_is_not_kept():
    ruling = rule("consensus")(poll(make_ballot(1, "abcd", weight=4), make_ballot(2, "abcde", weight=1)))
    assert "e" not in ruling.kept


@pytest.mark.parametrize("name", ["consensus", "consistency", "sets"])
def test_no_candidate_no_belief(name):
    ruling = rule(name)(poll(is_final=True))
    assert ruling.order == ()
    assert ruling.why


# -- three of five sets -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("passed", "believed"), [("abcdef", True), ("abcd", True), ("ab", False), ("ace", False)])
def test_two_of_three_whole_sets_are_three_of_five(passed, believed):
    cases = tuple(make_case(name, batch) for name, batch in zip("abcdef", "112233", strict=True))
    ruling = rule("sets")(Poll(ballots=(make_ballot(1, passed),), cases=cases))
    assert bool(ruling.order) is believed
    assert believed or "2 are needed" in ruling.why


def test_a_test_of_several_sets_counts_in_each():
    cases = (make_case("a", "1 2 3"), make_case("b", "3"))
    assert rule("sets")(Poll(ballots=(make_ballot(1, "a"),), cases=cases)).order == (1,)
    assert rule("sets")(Poll(ballots=(make_ballot(1, "b"),), cases=cases)).order == ()


# -- consistency ------------------------------------------------------------------------------------------------


def test_tests_and_codes_rank_one_another():
    # a and b are passed by the many that agree; c only by one that nobody agrees with
    ruling = rule("consistency")(
        poll(make_ballot(1, "ab", weight=3), make_ballot(2, "c", weight=2), cases="abc", is_final=True)
    )
    assert ruling.order == (1,)
    assert ruling.kept == ("a", "b")


def test_consistency_alone_is_not_enough_before_somebody_spoke():
    ruling = rule("consistency")(poll(make_ballot(1, "ab", weight=4), make_ballot(2, "c")))
    assert ruling.order == ()
    assert ruling.questions
    assert rule("consistency")(poll(make_ballot(1, "ab", weight=4), binding_count=1)).order == (1,)


# -- what candidates gave, and what is asked --------------------------------------------------------------------


def test_answers_that_the_user_ruled_out_were_answers_all_the_same():
    assert rule("consensus")(poll(make_ballot(1, "abcde", weight=3), answer_count=5)).order == (1,)
    assert rule("consensus")(poll(make_ballot(1, "abcde", weight=3), answer_count=4)).order == ()


def test_what_the_users_examples_speak_for_is_believed_with_a_doubt():
    agreeing = [make_ballot(1, "ab", weight=4), make_ballot(2, "abc", weight=1)]
    assert rule("consensus")(poll(*agreeing)).order == ()
    ruling = rule("consensus")(poll(*agreeing, binding_count=2))
    assert ruling.order == (1,)
    assert ruling.doubt == "The candidates agree, but fail 3 of 5 generated tests."


def test_candidates_that_pass_the_examples_and_disagree_are_waited_for():
    three = [make_ballot(number, each, weight=2) for number, each in enumerate(["abc", "abd", "abe"], 1)]
    assert rule("consensus")(poll(*three, binding_count=1)).order == ()
    ruling = rule("consensus")(poll(*three, binding_count=1, is_final=True))
    assert ruling.order == (1,)
    assert "do not agree" in ruling.doubt
