"""Search strategies by made-up attempts: what they try next, and when they stop."""

from __future__ import annotations

from pathlib import Path

import pytest

from greenloop.core.attempts import best_attempt
from greenloop.core.records.attempt import Attempt, Candidate, Draft, FeedbackNote, Move
from greenloop.core.records.model import Role
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Spec
from greenloop.core.records.verdict import CaseResult, ErrorGroup, Failure, Status, Verdict
from greenloop.drafting.search import _progress, chain
from greenloop.drafting.search.published import best_of_n, iad, magicore, patient, restart_on_repeat, tree

PROBLEM = Problem(root=Path("/w"), spec=Spec(cases=(), selectors=()), regions=(), originals={}, files={})


def failed(score: float, message: str = "", kind: str = "AssertionError") -> Verdict:
    """Ten cases of which this share passed."""
    failure = Failure(type=kind, message=message)
    passed = round(10 * score)
    return Verdict(
        status=Status.FAILED,
        cases=tuple(
            CaseResult(id=str(n), outcome="passed" if n < passed else "failed", failure=None if n < passed else failure)
            for n in range(10)
        ),
    )


class Run:
    """Attempts as the loop would make them of a strategy's drafts; every failure is another one unless it is named."""

    def __init__(self, plan, **fields) -> None:
        self.plan = plan
        self.attempts = [
            Attempt(number=0, verdict=failed(0, "your own"), notes=(FeedbackNote(text="", fields=fields),))
        ]
        self.round: list[Draft] = []

    def next(self) -> Draft | None:
        """What is tried next; None where the strategy has nothing left."""
        if not self.round:
            self.round = list(self.plan(PROBLEM, self.attempts))
        return self.round[0] if self.round else None

    def ends(self, share: float, message: str | None = None, /, **fields) -> Run:
        """The next attempt, which fails with this share of tests passed and this note."""
        draft = self.next()
        assert draft is not None
        self.round.pop(0)
        number = len(self.attempts)
        message = f"failure {number}" if message is None else message
        self.attempts.append(
            Attempt(
                number=number,
                parent=draft.parent,
                draft=draft,
                candidate=Candidate(texts={}),
                verdict=failed(share, message),
                error_class="AssertionError",
                group=ErrorGroup.LOGIC,
                notes=(FeedbackNote(text="", fields=fields),),
            )
        )
        return self

    def refused(self, error_class: str) -> Run:
        draft = self.next()
        assert draft is not None
        self.round.pop(0)
        self.attempts.append(
            Attempt(
                number=len(self.attempts),
                parent=draft.parent,
                draft=draft,
                verdict=Verdict(status=Status.REFUSED),
                error_class=error_class,
                group=ErrorGroup.SYNTAX if error_class == "SyntaxError" else ErrorGroup.ANSWER,
            )
        )
        return self

    @property
    def temperatures(self) -> list[float]:
        return [attempt.draft.temperature for attempt in self.attempts if attempt.draft]

    @property
    def parents(self) -> list[int | None]:
        return [attempt.parent for attempt in self.attempts[1:]]


# -- chains -----------------------------------------------------------------------------------------------------


def test_the_published_chain_refines_the_newest_whatever_it_scored():
    run = Run(chain.plan).ends(0.8).ends(0.3).ends(0.3).ends(0.3)
    assert run.parents == [0, 1, 2, 3]
    assert run.next() is not None


def test_a_chain_without_progress_stops_at_its_patience():
    run = Run(patient.plan).ends(0.5).ends(0.5).ends(0.5)
    assert run.next() is None
    assert best_attempt(run.attempts).verdict.score == 0.5


def test_a_worse_attempt_does_not_replace_a_better_one():
    run = Run(patient.plan).ends(0.8).ends(0.3)
    assert run.next().parent == 1
    assert best_attempt(run.attempts).number == 1


def test_the_best_reward_counts_and_not_the_last():
    run = Run(patient.plan).ends(0.5).ends(0.9).ends(0.2)
    assert run.next().parent == 2
    assert best_attempt(run.attempts).number == 2


def test_a_chain_goes_on_as_long_as_its_score_rises():
    run = Run(patient.plan)
    for tenth in range(9):
        run.ends(tenth / 10)
    assert run.parents == list(range(9))
    assert run.next() is not None


def test_refining_the_same_attempt_again_is_hotter():
    run = Run(patient.plan).ends(0.8).ends(0.3)
    assert (run.temperatures, run.next().temperature) == ([0.0, 0.0], 0.4)


# -- stuck ------------------------------------------------------------------------------------------------------


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


# -- rounds -----------------------------------------------------------------------------------------------------


def test_best_of_n_spreads_four_temperatures_over_a_round():
    run = Run(best_of_n.plan)
    first = best_of_n.plan(PROBLEM, run.attempts)
    assert [draft.temperature for draft in first] == [0.0]
    run.ends(0, "same")
    round_ = best_of_n.plan(PROBLEM, run.attempts)
    assert [draft.temperature for draft in round_] == [0.6, 0.75, 0.9, 1.0]
    assert {(draft.move, draft.parent, draft.role) for draft in (*first, *round_)} == {(Move.DRAFT, 0, Role.DRAFTER)}


def test_best_of_n_never_ends_by_itself_and_never_refines():
    run = Run(best_of_n.plan)
    for _ in range(40):
        run.ends(0, "same")
    assert set(run.parents) == {0}
    assert run.temperatures[1:5] == [0.6, 0.75, 0.9, 1.0]
    assert run.next() is not None


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
    assert {(draft.parent, draft.others, draft.prompt, draft.move) for draft in round_} == {
        (2, (3,), "compare", Move.REFINE)
    }
    assert len({draft.temperature for draft in round_}) == 3


def test_iad_has_nothing_to_compare_where_all_are_equal():
    run = Run(iad.plan).ends(0.2).ends(0.2).ends(0.2)
    assert (run.next().parent, run.next().others, run.next().prompt) == (1, (), "")


@pytest.mark.parametrize("readable", [True, False])
def test_iad_ends_after_two_rounds_without_gain(readable):
    run = Run(iad.plan)
    count = 0
    while run.next():
        run.ends(0.5) if readable else run.refused("NoCode")
        count += 1
    assert count == (9 if readable else 6)


# -- the gate by difficulty -------------------------------------------------------------------------------------


def test_magicore_samples_first():
    first = magicore.plan(PROBLEM, Run(magicore.plan).attempts)
    assert [(draft.move, draft.temperature) for draft in first] == [
        (Move.DRAFT, 0.0),
        (Move.DRAFT, 0.2),
        (Move.DRAFT, 0.6),
        (Move.DRAFT, 1.0),
    ]


def test_magicore_refines_the_best_sample_by_its_review():
    run = Run(magicore.plan).ends(0.1).ends(0.6).ends(0.3).ends(0.2, review="the loop stops early", of=2)
    draft = run.next()
    assert (draft.parent, draft.move, draft.hint, draft.prompt) == (2, Move.REFINE, "the loop stops early", "reviewed")


def test_magicore_replaces_by_what_is_equal_or_better_only():
    run = Run(magicore.plan).ends(0.1).ends(0.6).ends(0.3).ends(0.2)
    assert run.ends(0.5).next().parent == 2
    assert run.ends(0.6).next().parent == 6


def test_magicore_uses_no_review_of_another_attempt():
    run = Run(magicore.plan).ends(0.1).ends(0.6).ends(0.3).ends(0.2, review="about the third", of=3)
    assert (run.next().parent, run.next().hint, run.next().prompt) == (2, "", "")


def test_magicore_ends_after_three_refinements_without_gain():
    run = Run(magicore.plan)
    while run.next():
        run.ends(0.2)
    assert len(run.attempts) - 1 == magicore.SAMPLES + magicore.PATIENCE


# -- the tree ---------------------------------------------------------------------------------------------------


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
