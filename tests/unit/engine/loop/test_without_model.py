"""Attempts without a model: the time for one-token changes of each suspect, and merges of two answers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from greenloop.core.records.attempt import Attempt, Candidate, Draft, Move
from greenloop.core.records.model import Role
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Region, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.engine.loop import without_model

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
    limit = without_model._mutation_seconds(PROBLEM, mutate(SUSPECTS[1]), earlier)
    assert limit == pytest.approx(seconds)


def test_the_regions_that_were_chosen_first_have_their_own_time():
    assert without_model._mutation_seconds(PROBLEM, mutate(), []) == without_model.MUTATION_SECONDS
    alone = replace(PROBLEM, suspects=())
    assert without_model._mutation_seconds(alone, mutate(), []) == without_model.MUTATION_SECONDS


TEXT = "def f():\n    return 1\n\n\ndef g():\n    return 1\n"
F, G = Region(path="m.py", qualname="f", start=1, end=2), Region(path="m.py", qualname="g", start=5, end=6)
BOTH = replace(PROBLEM, regions=(F,), suspects=(G,), files={"m.py": TEXT}, originals={"m.py": TEXT})


def answered(number: int, region: Region, value: int) -> Attempt:
    candidate = Candidate(texts={region: f"def {region.qualname}():\n    return {value}\n"})
    draft = Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER, regions=(region,))
    return Attempt(number=number, parent=0, draft=draft, candidate=candidate, verdict=Verdict(status=Status.FAILED))


async def sum_is_5(files) -> Verdict:
    space: dict = {}
    exec(files["m.py"], space)
    return Verdict(status=Status.PASSED if space["f"]() + space["g"]() == 5 else Status.FAILED)


@pytest.mark.parametrize(("values", "tried", "passes"), [((2, 3), 2, True), ((4, 3), 2, False)])
async def test_the_merge_that_passes_is_the_attempt(values, tried, passes):
    attempts = [Attempt(number=0, verdict=Verdict(status=Status.FAILED))]
    attempts += [answered(1, F, 7), answered(2, F, values[0]), answered(3, G, values[1])]
    draft = Draft(parent=3, move=Move.MERGE, role=Role.REFINER, others=(1, 2))
    attempt = await without_model.best_merge(BOTH, 4, draft, attempts, sum_is_5)
    assert attempt.notes[0].fields == {"tried": tried}
    assert (attempt.verdict.status is Status.PASSED) is passes
    if passes:
        assert attempt.candidate.texts == {**attempts[2].candidate.texts, **attempts[3].candidate.texts}
    else:
        assert attempt.finding.message == "None of 2 combinations of answers passes more tests."


@pytest.mark.parametrize(("spent_seconds", "tried"), [(29.0, 1), (31.0, 0)])
async def test_merges_of_slow_tests_have_an_end(spent_seconds, tried):
    attempts = [Attempt(number=0, verdict=Verdict(status=Status.FAILED)), answered(1, F, 7), answered(2, G, 7)]
    merge = Draft(parent=2, move=Move.MERGE, role=Role.REFINER, others=(1,))
    attempts.append(Attempt(number=3, draft=merge, verdict=Verdict(status=Status.REFUSED, seconds=spent_seconds)))
    attempt = await without_model.best_merge(BOTH, 4, merge, attempts, sum_is_5)
    assert attempt.notes[0].fields == {"tried": tried}


SHARED = "def f(x, xs=[]):\n    xs.append(x)\n    return xs + [] + []\n"


@pytest.mark.parametrize(("text", "tried", "is_solved"), [(SHARED, 1, True), (SHARED.replace("[])", "())"), 4, False)])
async def test_a_slip_that_passes_is_taken_though_other_edits_pass_too(text, tried, is_solved):
    region = Region(path="m.py", qualname="f", start=1, end=3)
    problem = replace(PROBLEM, regions=(region,), suspects=(), files={"m.py": text}, originals={"m.py": text})

    async def passes_if_changed(files) -> Verdict:
        return Verdict(status=Status.FAILED if files["m.py"] == text else Status.PASSED)

    attempts = [Attempt(number=0, verdict=Verdict(status=Status.FAILED))]
    attempt = await without_model.best_mutant(problem, 1, mutate(), attempts, passes_if_changed)
    assert attempt.notes[0].fields == {"tried": tried}
    assert (attempt.verdict.status is Status.PASSED) is is_solved


@pytest.mark.parametrize(("most", "is_solved"), [(3, True), (1, False)])
async def test_while_a_model_is_asked_only_a_change_that_passes_alone_is_taken(most, is_solved):
    text = "def f(x):\n    return x < 1\n"
    region = Region(path="m.py", qualname="f", start=1, end=2)
    problem = replace(PROBLEM, regions=(region,), suspects=(), files={"m.py": text}, originals={"m.py": text})

    async def passes_with_another_limit(files) -> Verdict:
        is_other = files["m.py"] in (text.replace("1", "2"), text.replace("<", "<="))
        return Verdict(status=Status.PASSED if is_other else Status.FAILED)

    attempts = [Attempt(number=0, verdict=Verdict(status=Status.FAILED))]
    attempt = await without_model.best_mutant(
        problem, 1, mutate(), attempts, passes_with_another_limit, most_passing=most
    )
    assert (attempt.verdict.status is Status.PASSED) is is_solved
    assert is_solved or attempt.verdict.reason.startswith("More than one one-token edit passes")


@pytest.mark.parametrize(
    ("load", "seconds", "tried"), [(1.0, 100, 24), (0.0, 100, without_model.LEAST_CHANGES), (0.0, 0, 0), (1.0, 0, 0)]
)
async def test_a_loaded_machine_gets_more_time_and_slow_tests_some_tries(load, seconds, tried):
    text = "def f(x):\n    return x + 1 - 2 + 3 - 4 + 5\n"
    region = Region(path="m.py", qualname="f", start=1, end=2)
    problem = replace(PROBLEM, regions=(region,), suspects=(), files={"m.py": text}, originals={"m.py": text})

    async def fails(_files) -> Verdict:
        return Verdict(status=Status.FAILED)

    attempts = [Attempt(number=0, verdict=Verdict(status=Status.FAILED))]
    attempt = await without_model.best_mutant(problem, 1, mutate(), attempts, fails, seconds, load=lambda: load)
    found = attempt.notes[0].fields["tried"]
    assert found >= tried if load and seconds else found == tried
