"""Several unwritten functions: which one is next, and on whose code."""

from __future__ import annotations

from dataclasses import replace

from filling_problem import BASELINE, CODE, NAMES, PROBLEM, REGIONS, WHOLE, attempt, failed, names
from greenloop.core.records.attempt import Attempt, Candidate, Draft, Move
from greenloop.core.records.model import Role
from greenloop.core.records.spec import Region
from greenloop.drafting.search import ladder
from greenloop.drafting.search._filling import failing_first, furthest, with_reached


def test_the_first_answer_is_about_all_functions():
    assert list(ladder.plan(PROBLEM, [BASELINE])) == [WHOLE]


def test_then_the_one_in_which_the_tests_stop_and_the_calls_before_it():
    assert names(failing_first(PROBLEM, attempt(1, WHOLE, failed(4, "Stack.pop")))) == [
        "pop",
        "push",
        "__init__",
        "size",
    ]


def test_a_failed_assertion_blames_what_its_statement_calls():
    assert names(failing_first(PROBLEM, attempt(1, WHOLE, failed(4))))[0] == "pop"


def test_what_was_just_written_comes_last():
    draft = Draft(parent=1, move=Move.REFINE, role=Role.REFINER, regions=(REGIONS[2],))
    assert names(failing_first(PROBLEM, attempt(2, draft, failed(4)))) == ["push", "__init__", "size", "pop"]


def test_the_attempt_that_gets_further_is_gone_on_with():
    first, second = attempt(1, WHOLE, failed(3), failed(3)), attempt(2, WHOLE, failed(4), failed(3))
    assert furthest([BASELINE, first, second, attempt(3, WHOLE, failed(3), failed(3))]) is second
    assert furthest([BASELINE]) is BASELINE


def test_rungs_after_an_answer_that_passes_one_of_two_cases():
    attempts = [BASELINE, attempt(1, WHOLE, failed(4, "Stack.pop"))]
    moves = []
    for _ in range(4):
        drafts = ladder.plan(PROBLEM, attempts)
        moves.append([(draft.move, *names(draft.regions)) for draft in drafts])
        attempts += [attempt(len(attempts) + place, draft, failed(3), failed(3)) for place, draft in enumerate(drafts)]
    assert moves[:3] == [[(Move.MUTATE,)], [(Move.REFINE, "pop")], [(Move.REFINE, "push")]]
    assert moves[3] == [(Move.MERGE,)]  # of what was written for pop and for push


def test_a_suspect_in_which_an_attempt_stops_is_filled_next():
    """Of two classes with one file and one name of a method, the one that the frame names."""
    other = (
        "class Box:\n    def pop(self):\n        raise NotImplementedError\n\n    def top(self):\n        return 1\n"
    )
    start = len(CODE.splitlines()) + 2
    box = [Region(path="m.py", qualname=f"Box.{name}", start=start + row, end=start + row + 1) for name, row in PLACES]
    problem = replace(PROBLEM, suspects=tuple(box), files={**PROBLEM.files, "m.py": CODE + other})
    assert with_reached(problem, [BASELINE]) is problem
    elsewhere = attempt(1, WHOLE, failed(3, "Stack.pop"), failed(3, "Box.top"))
    assert with_reached(problem, [BASELINE, elsewhere]).regions == REGIONS
    stopped = attempt(1, WHOLE, failed(3, "Box.pop"), failed(3, "Box.pop"))
    assert with_reached(problem, [BASELINE, stopped]).regions == (*REGIONS, box[0])
    draft = next(iter(ladder.plan(problem, [BASELINE, stopped, mutated(2, stopped)])))
    assert (draft.regions, draft.parent) == ((box[0],), 1)


PLACES = (("pop", 0), ("top", 3))


def mutated(number: int, parent: Attempt) -> Attempt:
    """The step without a model that comes before the next question."""
    draft = Draft(parent=parent.number, move=Move.MUTATE, role=Role.REFINER)
    return replace(attempt(number, draft, failed(3, "Box.pop"), failed(3, "Box.pop")), candidate=None)


def test_a_function_that_fails_is_written_anew_beside_the_others_and_then_all_are():
    texts = {region: f"    def {name}(self):\n        return 1\n" for region, name in zip(REGIONS, NAMES, strict=True)}
    first = replace(attempt(1, WHOLE, failed(4, "Stack.pop")), candidate=Candidate(texts=texts))
    attempts, planned = [BASELINE, first], []
    for _ in range(4):
        drafts = ladder.plan(PROBLEM, attempts)
        planned.append(drafts)
        attempts += [attempt(len(attempts) + place, draft, failed(3), failed(3)) for place, draft in enumerate(drafts)]
    assert [draft.move for draft in planned[0]] == [Move.MUTATE]
    (anew,) = planned[1]
    assert (anew.move, names(anew.regions), anew.parent, anew.prompt) == (Move.DRAFT, ["pop"], 1, "filled")
    assert names(planned[2][0].regions) == ["push"]
    assert planned[3][0].move is Move.MERGE
