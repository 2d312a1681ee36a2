"""Samples, merges without a model, one question about both; and the variants that leave one of these out."""

from __future__ import annotations

from pathlib import Path

import pytest

from greenloop.core.records.attempt import Attempt, Candidate, Draft, Move
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region, Spec
from greenloop.core.records.verdict import CaseResult, Status, Verdict
from greenloop.drafting.search.published import merge, merge_nothing, merge_question, merge_statements

PROBLEM = Problem(root=Path("/w"), spec=Spec(), regions=(), originals={}, files={})
F = Region(path="m.py", qualname="f", start=1, end=2)


def verdict(passed: str) -> Verdict:
    """Of four cases, those of these letters pass."""
    cases = tuple(CaseResult(id=name, outcome="passed" if name in passed else "failed") for name in "abcd")
    return Verdict(status=Status.FAILED, cases=cases)


def plan_next(plan, *passed: str) -> list[Draft]:
    """The drafts after answers that pass these cases; merges without a model bring nothing."""
    attempts, waiting = [Attempt(number=0, verdict=verdict(""))], list(passed)
    while drafts := list(plan(PROBLEM, attempts)):
        for draft in drafts:
            number = len(attempts)
            if draft.move is Move.MERGE:
                no_gain = Verdict(status=Status.REFUSED)
                attempts.append(Attempt(number=number, parent=draft.parent, draft=draft, verdict=no_gain))
            elif waiting:
                candidate = Candidate(texts={F: f"def f(): {number}\n"})
                result = verdict(waiting.pop(0))
                attempts.append(
                    Attempt(number=number, parent=draft.parent, draft=draft, candidate=candidate, verdict=result)
                )
            else:
                return drafts
    return []


def test_the_question_is_about_the_best_and_what_passes_most_of_the_rest():
    (draft,) = plan_next(merge.plan, "a", "ab", "bcd", "")
    assert (draft.move, draft.prompt, draft.parent, draft.others) == (Move.REFINE, "merge", 3, (2,))


def test_each_pair_is_asked_about_once_and_then_the_best_is_refined():
    (draft,) = plan_next(merge.plan, "a", "b", "", "", "c")
    assert (draft.move, draft.prompt) == (Move.REFINE, "")


def test_a_better_answer_is_merged_again():
    (draft,) = plan_next(merge.plan, "a", "b", "", "", "cd")
    assert (draft.prompt, draft.parent, draft.others) == ("merge", 6, (1,))  # 5 is the merge that brought nothing


@pytest.mark.parametrize(
    ("plan", "merges", "asks"),
    [
        (merge.plan, True, True),
        (merge_statements.plan, True, False),
        (merge_question.plan, False, True),
        (merge_nothing.plan, False, False),
    ],
    ids=["merge", "statements", "question", "nothing"],
)
def test_the_variants_leave_a_step_out(plan, merges, asks):
    attempts = [Attempt(number=0, verdict=verdict(""))]
    for draft, passed in zip(plan(PROBLEM, attempts), ["a", "b", "", ""], strict=True):
        number = len(attempts)
        candidate = Candidate(texts={F: f"def f(): {number}\n"})
        attempts.append(Attempt(number=number, parent=0, draft=draft, candidate=candidate, verdict=verdict(passed)))
    assert (Move.MERGE in [each.move for each in plan(PROBLEM, attempts)]) is merges
    (asked,) = plan_next(plan, "a", "b", "", "")
    assert asked.prompt == ("merge" if asks else "")
