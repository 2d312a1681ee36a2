"""Ranks the attempts of a run: the best one, and those that may be accepted after a round, best first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from greenloop.core.compose import compose, region_text
from greenloop.core.python.stubs import is_unwritten
from greenloop.core.records.attempt import Attempt, Move
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case
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


# -- votes ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Ballot:
    """The results of one candidate. `weight`: answers of the model with the same code; `size`: changed lines.

    `observed`: the candidate's result by case id, comparable among candidates (a value's repr, an exception's class).
    """

    attempt: int
    passed: frozenset[str]
    observed: Mapping[str, str] = field(default_factory=dict)
    weight: int = 1
    size: int = 0


@dataclass(frozen=True, kw_only=True)
class Poll:
    """`ballots` of the candidates that pass every binding case, on `cases` that only vote.

    `binding_count` is that of the user's own cases, including confirmed ones; `answer_count` that of all model answers,
    including those that fail a binding case. `is_final`: no more candidates will come, so a rule that waits for more
    must decide now.
    """

    ballots: tuple[Ballot, ...]
    cases: tuple[Case, ...]
    binding_count: int = 0
    answer_count: int = 0
    is_final: bool = False


@dataclass(frozen=True, kw_only=True)
class Ruling:
    """A rule's decision on a poll: attempts that may be accepted, best first, and the ids of the cases believed.

    `order` empty: no attempt is believed yet, and `why` says in one sentence what is missing. `doubt`: the user's own
    cases support an attempt and the votes do not; it may be accepted, but the user should look at it.
    `questions`: case ids by how much the user's answer would decide; none while more candidates decide more.
    """

    order: tuple[int, ...] = ()
    kept: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    why: str = ""
    doubt: str = ""


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """Candidates with equal results in every case. `weight` is the sum of theirs; `passed` as in `Ballot`."""

    ballots: tuple[Ballot, ...]
    weight: int
    passed: frozenset[str]


def find_clusters(poll: Poll) -> tuple[Cluster, ...]:
    """Groups candidates by behaviour: heaviest first, then by passed cases, then the earliest."""
    groups: dict[tuple[str, ...], list[Ballot]] = defaultdict(list)
    for ballot in poll.ballots:
        groups[tuple(_behaviour(ballot, case.id) for case in poll.cases)].append(ballot)
    by_behaviour = [
        Cluster(
            ballots=tuple(sorted(group, key=lambda ballot: (ballot.size, ballot.attempt))),
            weight=sum(ballot.weight for ballot in group),
            passed=frozenset.intersection(*(ballot.passed for ballot in group)),
        )
        for group in groups.values()
    ]
    return tuple(
        sorted(by_behaviour, key=lambda cluster: (-cluster.weight, -len(cluster.passed), cluster.ballots[0].attempt))
    )


def _behaviour(ballot: Ballot, case: str) -> str:
    return ballot.observed.get(case) or ("passed" if case in ballot.passed else "failed")


def rank_by_split(clusters: Sequence[Cluster], cases: Sequence[Case]) -> tuple[str, ...]:
    """Case ids, sorted by how evenly they split the clusters' weights; cases on which all agree come last."""
    total = sum(cluster.weight for cluster in clusters) or 1

    def unevenness(case: Case) -> float:
        yes = sum(cluster.weight for cluster in clusters if case.id in cluster.passed)
        return abs(yes / total - 0.5)

    return tuple(case.id for case in sorted(cases, key=unevenness))
