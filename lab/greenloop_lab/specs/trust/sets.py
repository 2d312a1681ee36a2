"""Believes a candidate that passes three of five whole sets of independently written tests.

AgentCoder (Huang et al. 2023, arXiv 2312.13010) stops when three of five sets pass, because a single set of its tests
is right in only two of three cases.
"""

from __future__ import annotations

from math import ceil

from greenloop.core.records.spec import Case
from greenloop.plugins.written_tests.polls import Poll, Ruling, find_clusters, rank_by_split

SHARE = 0.6  # share of the sets that must pass


def rule(poll: Poll) -> Ruling:
    """Believes the candidate that passes most whole sets, at least three of five; cases without a set form one set."""
    sets = _sets(poll)
    needed = ceil(SHARE * len(sets))
    questions = rank_by_split(find_clusters(poll), poll.cases)
    passed_sets = {
        ballot.attempt: sum(all(case.id in ballot.passed for case in cases) for cases in sets.values())
        for ballot in poll.ballots
    }
    ranked = sorted(
        poll.ballots,
        key=lambda ballot: (-passed_sets[ballot.attempt], -len(ballot.passed), ballot.size, ballot.attempt),
    )
    order = tuple(ballot.attempt for ballot in ranked if passed_sets[ballot.attempt] >= needed)
    if not order:
        most = max(passed_sets.values(), default=0)
        why = f"{most} of {len(sets)} sets of generated tests pass; {needed} are needed."
        return Ruling(why=why)
    kept_ids = tuple(case.id for case in poll.cases if case.id in ranked[0].passed)
    return Ruling(order=order, kept=kept_ids, questions=questions)


def _sets(poll: Poll) -> dict[str, list[Case]]:
    by_set: dict[str, list[Case]] = {}
    for case in poll.cases:
        for batch in case.batch.split() or [""]:
            by_set.setdefault(batch, []).append(case)
    return by_set
