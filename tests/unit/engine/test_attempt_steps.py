"""How the time for one-token changes is shared among the suspects of a run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from greenloop.core.records.attempt import Attempt, Draft, Move
from greenloop.core.records.model import Role
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Region, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.engine import attempt_steps

FIRST, *SUSPECTS = (Region(path="m.py", qualname=name, start=1, end=2) for name in "fghijk")
PROBLEM = Problem(
    root=Path("/w"),
    spec=Spec(cases=(Case(id="t", path="t.py", line=1),), selectors=("t",)),
    regions=(FIRST,),
    originals={},
    files={},
    suspects=tuple(SUSPECTS),
)


def mutate(*regions: Region) -> Draft:
    return Draft(parent=0, move=Move.MUTATE, role=Role.REFINER, regions=regions)


def spent(seconds: float, *regions: Region) -> Attempt:
    return Attempt(number=1, draft=mutate(*regions), verdict=Verdict(status=Status.REFUSED, seconds=seconds))


@pytest.mark.parametrize(
    ("earlier", "seconds"),
    [
        ([spent(10.0)], 4.0),
        ([spent(4.0)], 5.2),  # 26 s for five
        ([spent(10.0), spent(0.0, SUSPECTS[0])], 5.0),  # 20 s for four
        ([spent(30.0)], 4.0),  # never less than an equal share
    ],
)
def test_a_suspect_gets_its_share_and_what_others_left_over(earlier, seconds):
    limit = attempt_steps._mutation_seconds(PROBLEM, mutate(SUSPECTS[1]), earlier)
    assert limit == pytest.approx(seconds)


def test_the_regions_that_were_chosen_first_have_their_own_time():
    assert attempt_steps._mutation_seconds(PROBLEM, mutate(), []) == attempt_steps.MUTATION_SECONDS
    alone = replace(PROBLEM, suspects=())
    assert attempt_steps._mutation_seconds(alone, mutate(), []) == attempt_steps.MUTATION_SECONDS
