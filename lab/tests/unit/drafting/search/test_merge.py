"""Samples, and one question about two that pass different tests."""

from __future__ import annotations

from pathlib import Path

from greenloop.core.records.attempt import Attempt, Candidate, Draft, Move
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop_lab.drafting.search import merge
from greenloop_sandbox import CaseResult

F = Region(path="m.py", qualname="f", start=1, end=2)
FILES = {"m.py": "def f():\n    return 0\n"}
PROBLEM = Problem(root=Path("/w"), spec=Spec(), regions=(F,), originals=FILES, files=FILES)


def verdict(passed: str) -> Verdict:
    """Of four cases, those of these letters pass."""
    cases = tuple(CaseResult(id=name, outcome="passed" if name in passed else "failed") for name in "abcd")
    return Verdict(status=Status.FAILED, cases=cases)


def plan_next(*passed: str) -> Draft:
    """The draft after answers that pass these cases."""
    attempts, waiting = [Attempt(number=0, verdict=verdict(""))], list(passed)
    while waiting:
        for draft in merge.plan(PROBLEM, attempts):
            number = len(attempts)
            attempts.append(
                Attempt(
                    number=number,
                    parent=draft.parent,
                    draft=draft,
                    candidate=Candidate(texts={F: f"def f(): {number}\n"}),
                    verdict=verdict(waiting.pop(0)),
                )
            )
    (draft,) = merge.plan(PROBLEM, attempts)
    return draft


def test_the_question_is_about_the_best_and_what_passes_most_of_the_rest():
    draft = plan_next("a", "ab", "bcd", "")
    assert (draft.move, draft.prompt, draft.parent) == (Move.REFINE, "merge", 3)
    assert draft.hint.startswith("Your answer passes `b`, `c`, `d`.\n\nThis passes `a`, `b`:")
    assert "def f(): 2" in draft.hint


def test_each_pair_is_asked_about_once_and_then_the_best_is_refined():
    draft = plan_next("a", "b", "", "", "c")
    assert (draft.move, draft.prompt) == (Move.REFINE, "")


def test_a_better_answer_is_asked_about_again():
    draft = plan_next("a", "b", "", "", "cd")
    assert (draft.prompt, draft.parent) == ("merge", 5)
    assert "def f(): 1" in draft.hint
