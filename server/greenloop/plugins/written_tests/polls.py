"""Polls of candidates on tests that only vote, and the rulings of a trust rule on them. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from greenloop.core.records.spec import Case


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
