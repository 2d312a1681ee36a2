"""Where a result was verified is named, and louder where the wall was open or missing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from greenloop.api.result_files import may_write
from greenloop.core.records.attempt import Attempt, Draft, Move
from greenloop.core.records.model import Role, Usage
from greenloop.core.records.outcome import Evidence, Outcome, StopReason, Verified
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.summary import fold_attempts, total_usage, verification_level
from greenloop.core.text.json_codec import to_json
from greenloop.plugins.improve.aims import Goal
from greenloop.plugins.improve.records import Gain
from greenloop.wording.attempt import attempt_label, summarize_infills
from greenloop.wording.outcome import (
    describe_gain,
    describe_improvement,
    isolation_caveat,
    outcome_in_short,
    summarize_solved,
)


def evidence(**fields) -> Evidence:
    return Evidence(cases={"user": (1, 1)}, proofs={"t.py::test_a": ("apart",)}, **fields)


def outcome(found: Evidence) -> Outcome:
    return Outcome(
        solved=True,
        verified=verification_level(found),
        reason=StopReason.SOLVED,
        message="",
        attempts=(),
        evidence=found,
    )


@pytest.mark.parametrize(
    ("found", "begins", "afterwards", "shown"),
    [
        (evidence(sandbox="bubblewrap"), "Verified in bubblewrap: 1/1 target tests pass, ", "", "verified"),
        (
            evidence(sandbox="docker", network=True),
            "Verified in docker with network access: 1/1 target tests pass",
            "The tests had network access.",
            "verified in docker with network access",
        ),
        (
            evidence(sandbox="none"),
            "Not verified because there is no sandbox: 1/1 target tests pass",
            "The tests ran without a sandbox.",
            "not verified: no sandbox",
        ),
    ],
    ids=["a wall", "network on", "no wall"],
)
def test_where_it_ran_is_part_of_every_sentence(found, begins, afterwards, shown):
    assert summarize_solved(found, verification_level(found)).startswith(begins)
    assert isolation_caveat(found) == afterwards
    assert shown in outcome_in_short(outcome(found))


def test_without_a_wall_nothing_is_verified_however_many_tests_pass():
    assert verification_level(evidence(sandbox="none", neighbours_unchanged=100)) is Verified.UNVERIFIED
    assert not may_write(outcome(evidence(sandbox="none")), ())


def tried(number: int, move: Move, error: str, tokens: int = 10) -> Attempt:
    return Attempt(
        number=number,
        draft=Draft(parent=0, move=move, role=Role.REFINER),
        verdict=Verdict(status=Status.FAILED),
        error_class=error,
        usage=Usage(prompt_tokens=tokens),
    )


def test_holes_beside_each_other_share_a_row():
    attempts = [
        tried(1, Move.MUTATE, "NoGain"),
        tried(2, Move.INFILL, "Unchanged"),
        tried(3, Move.INFILL, "AssertionError"),
        tried(4, Move.INFILL, "AssertionError"),
        tried(5, Move.DRAFT, "TypeError"),
        replace(tried(6, Move.INFILL, ""), accepted=True),
    ]
    rows = fold_attempts(attempts)
    assert [[attempt.number for attempt in row] for row in rows] == [[1], [2, 3, 4], [5], [6]]
    assert summarize_infills(rows[1]) == "3 infills: AssertionError 2, Unchanged 1"
    assert total_usage(rows[1]).tokens == 30


@pytest.mark.parametrize(
    ("number", "parent", "move", "shown"),
    [
        (1, 0, Move.DRAFT, "1"),
        (4, 0, Move.DRAFT, "4"),
        (3, 2, Move.REFINE, "3"),
        (4, 1, Move.REFINE, "4 ← 1"),
        (5, 0, Move.RESTART, "5 ← 0"),
        (6, 0, Move.INFILL, "6"),
    ],
)
def test_an_attempt_says_where_it_goes_on_from(number, parent, move, shown):
    attempt = Attempt(
        number=number,
        parent=parent,
        draft=Draft(parent=parent, move=move, role=Role.DRAFTER),
        verdict=Verdict(status=Status.FAILED),
    )
    assert attempt_label(attempt) == shown


def test_an_attempt_shows_the_idea_that_it_follows():
    draft = Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER, label="one pass with a set, O(n)")
    attempt = Attempt(number=2, parent=0, draft=draft, verdict=Verdict(status=Status.FAILED))
    assert attempt_label(attempt) == "2 (one pass with a set, O(n))"


def proved(cases: dict[str, tuple[int, int]], **fields) -> Evidence:
    return Evidence(sandbox="bubblewrap", cases=cases, proofs={"t.py::test_a": ("apart",)}, **fields)


@pytest.mark.parametrize("word", ["user", "doctest", "example", "trace", "confirmed"])
def test_what_the_user_said_himself_verifies(word):
    found = proved({"designed": (7, 8), "property": (2, 2), word: (1, 1)})
    assert verification_level(found) is Verified.VERIFIED
    assert outcome(found).verified is Verified.VERIFIED


@pytest.mark.parametrize(
    "cases",
    [
        {},
        {"designed": (8, 8)},
        {"property": (3, 3)},
        {"hint": (2, 2), "constraint": (1, 1)},
        {"human": (1, 1)},
        {"designed": (8, 8), "user": (0, 0)},
    ],
)
def test_what_somebody_else_made_up_never_verifies(cases):
    found = proved(cases)
    assert verification_level(found) is Verified.PARTIALLY
    assert not may_write(replace(outcome(found), after={"m.py": "x"}), ())


def test_the_label_says_who_wrote_the_tests():
    found = proved({"designed": (7, 8), "doctest": (3, 3), "property": (2, 2), "confirmed": (1, 1)})
    told = "no tests of your own, 3/3 doctests pass, 7/8 generated tests pass, 2/2 properties pass, 1 confirmed by you"
    assert summarize_solved(found, Verified.PARTIALLY).startswith(
        f"Partially verified in bubblewrap: {told}, no other tests"
    )
    assert outcome_in_short(replace(outcome(found), verified=Verified.PARTIALLY)).startswith(
        f"partially verified: {told}"
    )
    assert "no tests of your own" not in summarize_solved(proved({"doctest": (3, 3)}), Verified.VERIFIED)
    assert "designed" not in summarize_solved(proved({"user": (1, 1)}), Verified.VERIFIED)


def test_a_gain_stands_in_front_with_what_stayed():
    gain = Gain(goal=Goal.TIME, before=0.041, after=0.006, ratio=0.15, low=0.13, high=0.17, pairs=9)
    found = replace(
        proved({"user": (11, 11), "doctest": (1, 1), "goal": (2, 2)}),
        neighbours_unchanged=31,
        data={"improve": to_json(gain)},
    )
    said = "41 ms → 6.0 ms (0.15, 0.13 to 0.17), 12 tests and 31 related tests unchanged"
    assert describe_improvement(found) == said
    sentence = summarize_solved(found, Verified.VERIFIED)
    assert sentence.startswith(f"Verified in bubblewrap: {said}, same results on other inputs, ")
    assert "asked for" not in sentence
    alone = replace(found, cases={"user": (1, 1), "goal": (1, 1)}, neighbours_unchanged=0, neighbours_not_affected=4)
    assert "1 test unchanged, 4 not affected, " in summarize_solved(alone, Verified.PARTIALLY)
    assert "same results" not in summarize_solved(alone, Verified.PARTIALLY)
    assert describe_improvement(replace(found, data={})) == "12 tests and 31 related tests unchanged"
    assert describe_gain(found) == said
    assert describe_gain(replace(found, data={"types": {"note": "not checked"}})) == ""
