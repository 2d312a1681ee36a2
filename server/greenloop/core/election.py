"""Ranks the attempts of a run: the best one, and those that may be accepted after a round, best first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from greenloop.core.compose import compose, region_text
from greenloop.core.python.stubs import is_unwritten
from greenloop.core.records.attempt import Attempt, Move
from greenloop.core.records.problem import Problem
from greenloop.core.records.verdict import Status
from greenloop.core.text.diff import count_changed_lines

WITHOUT_MODEL = (Move.MUTATE, Move.MERGE)
MISPLACED = ("SearchNotFound", "SearchAmbiguous")  # error classes of edits whose lines were not found
MOST_FOR_SIBLINGS = 2  # further turns where tests that fail for the same cause stay red
CHEAP = (Move.INFILL, *WITHOUT_MODEL)  # too many and too small to describe one by one


def is_valid(attempt: Attempt) -> bool:
    """Was the attempt's candidate run, and without tampering?"""
    return attempt.candidate is not None and attempt.verdict.status not in (Status.REFUSED, Status.TAMPERED)


def rank(attempt: Attempt) -> tuple[float, int]:
    """Orders attempts by score, then by few newly failing neighbours; attempts without a valid run rank last."""
    return (attempt.verdict.score, -len(attempt.verdict.collateral)) if is_valid(attempt) else (-1.0, 0)


def best_attempt(attempts: Sequence[Attempt]) -> Attempt | None:
    """The attempt with the highest score, fewest newly failing neighbours, earliest; only tested candidates count."""

    def key(attempt: Attempt) -> tuple[bool, bool, tuple[float, int], int]:
        return attempt.accepted, attempt.verdict.status is Status.PASSED, rank(attempt), -attempt.number

    return max(filter(is_valid, attempts), key=key, default=None)


def count_asked(attempts: Sequence[Attempt]) -> int:
    """Counts the attempts that the model was asked for; a turn whose edits could not be placed is none."""
    asked = (each for each in attempts if each.draft is not None and each.draft.move not in WITHOUT_MODEL)
    return sum(not (each.draft and each.draft.move is Move.TURN and each.error_class in MISPLACED) for each in asked)


def base_of_turns(attempts: Sequence[Attempt]) -> Attempt:
    """The attempt on whose code the next turn of a conversation builds.

    The best turn so far, the newest of equals, if more of the target's tests pass than of the user's code; else that.
    """
    valid = (each for each in attempts[1:] if each.draft and each.draft.move is Move.TURN and is_valid(each))
    best = max(valid, key=lambda each: (rank(each), each.number), default=None)
    return best if best is not None and best.verdict.score > attempts[0].verdict.score else attempts[0]


@dataclass(frozen=True, kw_only=True)
class Election:
    """Attempts that may be accepted: `order` has their numbers, best first.

    `attempts` are all of them, judged by the spec as it is now: answers of the user may have changed it meanwhile.
    """

    attempts: Sequence[Attempt]
    order: Sequence[int] = ()


async def elect_nearest(problem: Problem, attempts: Sequence[Attempt], is_final: bool, patience: int = 0) -> Election:
    """Any attempt that passes may be accepted; of several, the one nearest to the user's code comes first.

    Where a requirement measured costs, the lowest comes first, then what leaves the fewest other tests of the file red,
    and what has no blemish. A one-token change that leaves any red waits for the first whole answer, since one cause
    may have turned them all red. Of code that was to be written these tests say what it is for, so a whole answer waits
    too, until there are `patience`. A turn of a conversation waits for the next ones where tests that fail for the same
    cause stay red, and once for a blemish.
    """
    passing = [
        attempt
        for attempt in attempts
        if attempt.candidate
        and attempt.verdict.status is Status.PASSED
        and (is_final or not _waits(problem, attempt, attempts, patience))
    ]

    def distance(attempt: Attempt) -> tuple[float, int, int, int, int]:
        assert attempt.candidate is not None
        ratios = (data.get("ratio", 1.0) for data in attempt.verdict.data.values())
        changed = count_changed_lines(problem.files, compose(problem, attempt.candidate))
        return min(ratios, default=1.0), len(attempt.verdict.still_red), len(attempt.blemishes), changed, attempt.number

    return Election(attempts=attempts, order=[attempt.number for attempt in sorted(passing, key=distance)])


def _waits(problem: Problem, attempt: Attempt, attempts: Sequence[Attempt], patience: int) -> bool:
    if attempt.draft is not None and attempt.draft.move is Move.TURN:
        later = sum(bool(each.draft and each.draft.move is Move.TURN) for each in attempts[attempt.number + 1 :])
        has_red_sibling = bool({*problem.siblings} & {*attempt.verdict.still_red})
        return later < (MOST_FOR_SIBLINGS if has_red_sibling else bool(attempt.blemishes))
    if attempt.draft is None or not attempt.verdict.still_red:
        return False
    if attempt.draft.move is Move.MUTATE:
        return _count_whole(attempts[attempt.number :]) == 0
    is_new = all(is_unwritten(region_text(problem, region)) for region in problem.regions)
    return is_new and _count_whole(attempts) < patience


def _count_whole(attempts: Sequence[Attempt]) -> int:
    return sum(each.draft is not None and each.draft.move not in CHEAP for each in attempts)
