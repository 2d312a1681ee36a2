"""The ladder without merges, and that it has them otherwise, for code to be written and code to be repaired."""

from __future__ import annotations

from pathlib import Path

import pytest

from greenloop.core.records.attempt import Attempt, Candidate, Move
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Region, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.drafting.search import ladder
from greenloop_lab.drafting.search import ladder_unmerged
from greenloop_sandbox import CaseResult

F = Region(path="m.py", qualname="f", start=1, end=2)
CASES = ("t.py::test_a", "t.py::test_b")
STUB, CODE = "def f(a):\n    raise NotImplementedError\n", "def f(a):\n    return a\n"


def problem(text: str) -> Problem:
    spec = Spec(cases=tuple(Case(id=name, path="t.py", line=1) for name in CASES), selectors=CASES)
    return Problem(root=Path("/w"), spec=spec, regions=(F,), originals={"m.py": text}, files={"m.py": text})


def verdict(*passed: int) -> Verdict:
    cases = tuple(
        CaseResult(id=name, outcome="passed" if number in passed else "failed") for number, name in enumerate(CASES)
    )
    return Verdict(status=Status.FAILED, cases=cases)


def climb(plan, text: str) -> list[tuple[Move, int]]:
    """Moves and parents until nothing is left; attempts pass the first and the second case in turns."""
    attempts = [Attempt(number=0, verdict=verdict())]
    while drafts := plan(problem(text), attempts):
        for draft in drafts:
            number = len(attempts)
            candidate = None if draft.move in (Move.MUTATE, Move.MERGE) else Candidate(texts={F: f"def f(a): {number}"})
            status = verdict(number % 2) if candidate else Verdict(status=Status.REFUSED)
            attempts.append(
                Attempt(number=number, parent=draft.parent, draft=draft, candidate=candidate, verdict=status)
            )
    return [(each.draft.move, each.parent) for each in attempts if each.draft]


@pytest.mark.parametrize("text", [STUB, CODE], ids=["to be written", "to be repaired"])
def test_only_the_ladder_merges_what_passes_different_tests(text):
    moves = climb(ladder.plan, text)
    merged = [parent for move, parent in moves if move is Move.MERGE]
    assert merged
    others = climb(ladder_unmerged.plan, text)
    assert Move.MERGE not in [move for move, _parent in others]
    assert [move for move, _parent in others][:2] == [move for move, _parent in moves if move is not Move.MERGE][:2]


def test_a_merge_comes_before_the_model_is_asked_again():
    moves = [move for move, _parent in climb(ladder.plan, STUB)]
    first = moves.index(Move.MERGE)
    assert moves[:first] == [Move.DRAFT] * 2
    assert [move for move in moves if move is Move.DRAFT] == [Move.DRAFT] * 5
