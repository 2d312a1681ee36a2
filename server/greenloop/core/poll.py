"""Votes between tests and candidates, where no test is the user's word.

A test that a model wrote may be wrong, and so may a candidate; what many of both agree on is rarely so (CodeT,
arXiv 2207.10397; ConAIR's inter- and intra-consistency). Which of several rules decides is a part (`trust/`).
Everything here is pure: the harness scores recorded votes by the same functions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from greenloop.core.nouns import Case


@dataclass(frozen=True, kw_only=True)
class Ballot:
    """How one candidate fared. `weight`: so many answers of the model came to the same code; `size`: lines changed.

    `seen`: by case id what the candidate gave, comparable among candidates (a value's repr, an exception's class).
    """

    attempt: int
    passed: frozenset[str]
    seen: Mapping[str, str] = field(default_factory=dict)
    weight: int = 1
    size: int = 0


@dataclass(frozen=True, kw_only=True)
class Poll:
    """`ballots` of the candidates that pass every binding case, on `cases` that have a vote only.

    `binding` counts the cases that are the user's own word, those that he confirmed included; `answers` are the model's
    in all, those that fail what must hold among them; `over`: no candidate comes any more, so that a rule that waits
    for more of them must decide now.
    """

    ballots: tuple[Ballot, ...]
    cases: tuple[Case, ...]
    binding: int = 0
    answers: int = 0
    over: bool = False


@dataclass(frozen=True, kw_only=True)
class Ruling:
    """What a rule made of a poll: attempts that may be accepted, best first, and the ids of the cases believed.

    `order` empty: nobody is believed yet, and `why` says in one sentence what is missing. `doubt` is about one for whom
    the user's own word speaks and the votes do not: he may be accepted and is for the user to look at.
    `questions`: case ids by how much the user's answer would settle; none while more candidates settle more.
    """

    order: tuple[int, ...] = ()
    kept: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    why: str = ""
    doubt: str = ""


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """Candidates that gave the same for every case. `weight` is the sum of theirs; `passed` as in `Ballot`."""

    ballots: tuple[Ballot, ...]
    weight: int
    passed: frozenset[str]


def clusters(poll: Poll) -> tuple[Cluster, ...]:
    """The candidates by behaviour, heaviest first, then the one that passes more cases, then the earliest."""
    groups: dict[tuple[str, ...], list[Ballot]] = defaultdict(list)
    for ballot in poll.ballots:
        groups[tuple(_behaviour(ballot, case.id) for case in poll.cases)].append(ballot)
    found = [
        Cluster(
            ballots=tuple(sorted(group, key=lambda ballot: (ballot.size, ballot.attempt))),
            weight=sum(ballot.weight for ballot in group),
            passed=frozenset.intersection(*(ballot.passed for ballot in group)),
        )
        for group in groups.values()
    ]
    return tuple(sorted(found, key=lambda each: (-each.weight, -len(each.passed), each.ballots[0].attempt)))


def _behaviour(ballot: Ballot, case: str) -> str:
    return ballot.seen.get(case) or ("passed" if case in ballot.passed else "failed")


def splitting(found: Sequence[Cluster], cases: Sequence[Case]) -> tuple[str, ...]:
    """Case ids by how evenly the clusters' weights stand on both sides; those on which all agree come last."""
    total = sum(cluster.weight for cluster in found) or 1

    def unevenness(case: Case) -> float:
        yes = sum(cluster.weight for cluster in found if case.id in cluster.passed)
        return abs(yes / total - 0.5)

    return tuple(case.id for case in sorted(cases, key=unevenness))
