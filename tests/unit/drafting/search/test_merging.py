"""Which attempts are put together without a model."""

from __future__ import annotations

from greenloop.core.records.attempt import Attempt, Candidate, Draft, Move
from greenloop.core.records.model import Role
from greenloop.core.records.verdict import Status, Verdict
from greenloop.drafting.search._merging import MOST_ALIKE, plan_merges
from greenloop_sandbox import CaseResult


def attempt(number: int, passed: str, move: Move = Move.DRAFT, status: Status = Status.FAILED) -> Attempt:
    """It passes the cases of these letters, of four."""
    cases = tuple(CaseResult(id=name, outcome="passed" if name in passed else "failed") for name in "abcd")
    return Attempt(
        number=number,
        parent=0,
        draft=Draft(parent=0, move=move, role=Role.DRAFTER),
        candidate=Candidate(texts={}),
        verdict=Verdict(status=status, cases=cases),
    )


def merged(*attempts: Attempt) -> list[tuple[int, tuple[int, ...]]]:
    drafts = plan_merges([Attempt(number=0, verdict=Verdict(status=Status.FAILED)), *attempts])
    assert {draft.move for draft in drafts} <= {Move.MERGE}
    return [(draft.parent, draft.others) for draft in drafts]


def test_each_passes_what_the_other_does_not():
    assert merged(attempt(1, "ab"), attempt(2, "a"), attempt(3, "bc"), attempt(4, "d")) == [
        (3, (1, 2)),
        (4, (1, 2, 3)),
    ]


def test_a_merge_is_merged_with_a_third():
    assert merged(attempt(1, "a"), attempt(2, "b"), attempt(3, "ab", Move.MERGE), attempt(4, "c"))[-1] == (4, (1, 2, 3))


def test_what_was_not_run_or_tampered_is_left_out():
    refused = attempt(1, "a", status=Status.REFUSED)
    tampered = attempt(2, "b", status=Status.TAMPERED)
    assert merged(refused, tampered, attempt(3, "c")) == []


def test_of_small_changes_that_pass_the_same_cases_only_some_are_merged():
    ones = [attempt(number, "a", Move.INFILL) for number in range(1, 9)]
    assert merged(*ones, attempt(9, "b", Move.INFILL)) == [(9, (1, 2, 3))]
    assert MOST_ALIKE == 3
    whole = [attempt(number, "a") for number in range(1, 9)]
    assert merged(*whole, attempt(9, "b")) == [(9, tuple(range(1, 9)))]
