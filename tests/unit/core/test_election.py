"""Which attempts may be accepted and in what order; on which one the next turn of a conversation builds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from attempts import attempt, baseline, in_order, verdict
from greenloop.core.election import (
    base_of_turns,
    best_attempt,
    count_asked,
    elect_nearest,
)
from greenloop.core.records.attempt import Candidate, Finding, Move
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region, Spec
from greenloop.core.records.verdict import Status
from greenloop_sandbox import CaseResult

CODE = "def f(x):\n    return x\n"
F = Region(path="m.py", qualname="f", start=1, end=2)
PROBLEM = Problem(root=Path("/w"), spec=Spec(), regions=(F,), originals={"m.py": CODE}, files={"m.py": CODE})
REFUSED = Finding(error_class="NoCode", message="No code.")
BROKEN = (CaseResult(id="t.py::other", outcome="failed"),)


def number_of(found):
    return found.number if found else None


@pytest.mark.parametrize(
    ("attempts", "base"),
    [
        ([], 0),
        ([attempt(1)], 0),
        ([attempt(1, passed=1)], 1),
        ([attempt(1, passed=1), attempt(2)], 1),
        ([attempt(1, passed=1), attempt(2, passed=1)], 2),
        ([attempt(1, passed=1), attempt(2, finding=REFUSED)], 1),
        ([attempt(1, Move.DRAFT, passed=1)], 0),
        ([attempt(1, Move.MUTATE, passed=1), attempt(2)], 0),
        ([attempt(1, verdict=verdict(1, status=Status.TAMPERED))], 0),
        ([attempt(1, verdict=verdict(2, collateral=BROKEN)), attempt(2, passed=2)], 2),
        ([attempt(1, verdict=verdict(2, collateral=BROKEN)), attempt(2, passed=1)], 1),
    ],
)
def test_a_turn_builds_on_the_best_one_that_passes_more_than_the_users_code(attempts, base):
    assert base_of_turns(in_order(baseline(), *attempts)).number == base


def test_what_passes_no_more_than_the_users_code_is_not_built_on():
    assert base_of_turns([baseline(1), attempt(1, passed=1)]).number == 0


def test_the_best_attempt():
    attempts = in_order(baseline(), attempt(1, passed=1), attempt(2, passed=1), attempt(3, finding=REFUSED))
    assert number_of(best_attempt(attempts)) == 1
    accepted = [*attempts, attempt(4, accepted=True)]
    assert number_of(best_attempt(accepted)) == 4
    assert best_attempt([baseline()]) is None


@pytest.mark.parametrize(
    ("moves", "count"),
    [
        ([Move.TURN, Move.TURN], 2),
        ([Move.MUTATE, Move.MERGE, Move.TURN], 1),
        ([Move.DRAFT, Move.INFILL], 2),
    ],
)
def test_attempts_that_a_model_was_asked_for(moves, count):
    assert count_asked([baseline(), *(attempt(number, move) for number, move in enumerate(moves, 1))]) == count


def test_a_turn_whose_edits_could_not_be_placed_costs_nothing():
    found = [
        attempt(number, finding=Finding(error_class=name, message=""))
        for number, name in enumerate(("SearchNotFound", "SearchAmbiguous", "NoCode", "NotEditable"), 1)
    ]
    assert count_asked([baseline(), *found]) == 2
    drafted = attempt(1, Move.DRAFT, finding=Finding(error_class="SearchNotFound", message=""))
    assert count_asked([baseline(), drafted]) == 1


def passing(number, move=Move.TURN, text="    return x + 1\n", *, red=(), **more):
    candidate = Candidate(texts={F: f"def f(x):\n{text}"})
    return attempt(number, move, candidate=candidate, verdict=verdict(2, still_red=red), **more)


async def order(attempts, problem=PROBLEM, *, final=False, patience=0):
    return list((await elect_nearest(problem, [baseline(), *attempts], final, patience)).order)


async def test_of_passing_attempts_the_cleanest_and_nearest_comes_first():
    long = passing(2, text="    y = x\n    return y + 1\n")
    assert await order([passing(1, blemishes=("dead code",)), long, passing(3)]) == [3, 2, 1]
    assert await order([attempt(1, passed=1)]) == []


SIBLING = replace(PROBLEM, siblings=("t.py::sibling",))


@pytest.mark.parametrize("later", range(4))
async def test_a_turn_that_leaves_a_sibling_red_waits_for_two_more(later):
    more = [attempt(2 + number) for number in range(later)]
    waiting = passing(1, red=("t.py::sibling",))
    assert await order([waiting, *more], SIBLING) == ([1] if later >= 2 else [])
    assert await order([waiting, *more], SIBLING, final=True) == [1]
    assert await order([passing(1, red=("t.py::other",)), *more], SIBLING) == [1]


@pytest.mark.parametrize("later", range(3))
async def test_a_turn_with_a_blemish_waits_for_one_more(later):
    more = [attempt(2 + number) for number in range(later)]
    assert await order([passing(1, blemishes=("dead code",)), *more]) == ([1] if later else [])


async def test_a_change_without_a_model_waits_where_it_leaves_any_red():
    mutated = passing(1, Move.MUTATE, red=("t.py::other",))
    assert await order([mutated]) == []
    assert await order([mutated, attempt(2, Move.MUTATE)]) == []
    assert await order([mutated, attempt(2)]) == [1]
    assert await order([passing(1, Move.MUTATE)]) == [1]


STUB = "def f(x):\n    raise NotImplementedError\n"
UNWRITTEN = replace(PROBLEM, originals={"m.py": STUB}, files={"m.py": STUB})


def drafted(number, outcome):
    """`outcome` is how it ended: failed, passed, or passed with red tests left."""
    if outcome == "failed":
        return attempt(number, Move.DRAFT)
    return passing(number, Move.DRAFT, red=("t.py::other",) if outcome == "red" else ())


@pytest.mark.parametrize(
    ("outcomes", "elected"),
    [
        (["passed"], [1]),
        (["red"], []),
        (["red", "failed"], []),
        (["red", "passed"], [2]),
        (["red", "red"], []),
        (["red", "failed", "red"], [1, 3]),
        (["red", "failed", "passed"], [3, 1]),
    ],
)
async def test_a_written_function_that_leaves_tests_red_waits_for_a_few_answers(outcomes, elected):
    attempts = [drafted(number, outcome) for number, outcome in enumerate(outcomes, 1)]
    assert await order(attempts, UNWRITTEN, patience=3) == elected


async def test_what_leaves_tests_red_waits_no_longer_than_the_search_nor_where_code_was_there():
    assert await order([drafted(1, "red")], UNWRITTEN, patience=3, final=True) == [1]
    assert await order([drafted(1, "red")], UNWRITTEN) == [1]
    assert await order([drafted(1, "red")], patience=3) == [1]
    without_model = [passing(1, Move.MERGE, red=("t.py::other",)), passing(2, Move.MUTATE, red=("t.py::other",))]
    assert await order([drafted(1, "red"), *without_model], UNWRITTEN, patience=3) == []
