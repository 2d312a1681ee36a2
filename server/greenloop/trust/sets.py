"""Three of five: a candidate is believed that passes whole sets of tests, each written without knowing the others.

AgentCoder (Huang et al. 2023, arXiv 2312.13010) stops when three of five sets pass, since a single set of its tests is
right in two of three cases only.
"""

from __future__ import annotations

from math import ceil

from greenloop.core.nouns import Case
from greenloop.core.poll import Ballot, Poll, Ruling, clusters, splitting

SHARE = 0.6  # of the sets


def rule(poll: Poll) -> Ruling:
    """Whoever passes most sets whole, where these are three of five; cases in no set are a set by themselves."""
    sets = _sets(poll)
    needed = ceil(SHARE * len(sets))
    questions = splitting(clusters(poll), poll.cases)
    whole = {ballot.attempt: _whole(ballot, sets) for ballot in poll.ballots}
    ranked = sorted(
        poll.ballots, key=lambda ballot: (-len(whole[ballot.attempt]), -len(ballot.passed), ballot.size, ballot.attempt)
    )
    order = tuple(ballot.attempt for ballot in ranked if len(whole[ballot.attempt]) >= needed)
    if not order:
        best = max((len(passed) for passed in whole.values()), default=0)
        why = f"{best} of {len(sets)} sets of designed tests pass; {needed} are needed."
        return Ruling(why=why)
    kept = tuple(case.id for case in poll.cases if case.id in ranked[0].passed)
    return Ruling(order=order, kept=kept, questions=questions)


def _sets(poll: Poll) -> dict[str, list[Case]]:
    found: dict[str, list[Case]] = {}
    for case in poll.cases:
        for batch in case.batch.split() or [""]:
            found.setdefault(batch, []).append(case)
    return found


def _whole(ballot: Ballot, sets: dict[str, list[Case]]) -> list[str]:
    """The sets that a candidate passes to the last test."""
    return [batch for batch, cases in sets.items() if all(case.id in ballot.passed for case in cases)]
