"""The search of capable models: a few one-token changes while the first answer is under way, then turn after turn."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from attempts import attempt, baseline
from greenloop.core.records.attempt import Draft, Move
from greenloop.core.records.model import Role
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region, Spec
from greenloop.plugins.conversations.search.conversation import CHANGED_FIRST, plan

CODE = "".join(f"def f{number}(x):\n    return x\n\n\n" for number in range(6))
REGIONS = tuple(Region(path="m.py", qualname=f"f{n}", start=1 + 4 * n, end=2 + 4 * n) for n in range(6))
PROBLEM = Problem(
    root=Path("/w"),
    spec=Spec(),
    regions=REGIONS[:1],
    suspects=REGIONS[1:],
    originals={"m.py": CODE},
    files={"m.py": CODE},
)


def follow(problem, rounds, *, has_answer=False):
    """The moves with the regions that they are about."""
    attempts, moves = [baseline()], []
    for number in range(1, rounds + 1):
        (draft,) = plan(problem, attempts, has_answer=has_answer)
        moves.append((draft.move, [region.qualname for region in draft.regions]))
        attempts.append(attempt(number, draft=draft))
    return moves


def test_the_changes_of_the_first_suspects_then_turns():
    moves = follow(PROBLEM, CHANGED_FIRST + 2)
    assert moves == [(Move.MUTATE, []), (Move.MUTATE, ["f1"]), (Move.MUTATE, ["f2"]), (Move.TURN, []), (Move.TURN, [])]


def test_as_soon_as_there_is_an_answer_it_is_taken():
    assert follow(PROBLEM, 2, has_answer=True) == [(Move.TURN, []), (Move.TURN, [])]


@pytest.mark.parametrize(
    "problem",
    [
        replace(PROBLEM, regions=(), suspects=()),
        replace(PROBLEM, files={"m.py": CODE.replace("return x", "raise NotImplementedError")}, suspects=()),
    ],
)
def test_where_nothing_is_written_only_turns(problem):
    assert follow(problem, 2) == [(Move.TURN, []), (Move.TURN, [])]


def test_a_turn_builds_on_what_is_kept():
    attempts = [baseline(), attempt(1, passed=1), attempt(2)]
    assert plan(PROBLEM, attempts) == [Draft(parent=1, move=Move.TURN, role=Role.DRAFTER)]


def test_changes_that_a_ladder_tried_are_not_tried_again():
    tried = [
        attempt(n, draft=Draft(parent=0, move=Move.MUTATE, role=Role.REFINER, regions=regions))
        for n, regions in enumerate([(), REGIONS[1:2], REGIONS[2:3]], 1)
    ]
    (draft,) = plan(PROBLEM, [baseline(), *tried, attempt(4, Move.DRAFT)])
    assert draft.move is Move.TURN
