"""The default rule of trust with other thresholds, for its curve."""

from __future__ import annotations

from collections.abc import Callable

from greenloop.plugins.written_tests.polls import Poll, Ruling, find_clusters, rank_by_split


def consensus(*, majority: float, share: float) -> Callable[[Poll], Ruling]:
    """The heaviest cluster with more than `majority` of the answers and at least `share` of the tests."""

    def rule(poll: Poll) -> Ruling:
        found = find_clusters(poll)
        answers = sum(ballot.weight for ballot in poll.ballots)
        questions = rank_by_split(found, poll.cases)
        if not found:
            return Ruling(why="No candidate passes all tests that must hold.")
        top = max(found, key=lambda each: (each.weight * len(each.passed), each.weight))
        kept = tuple(case.id for case in poll.cases if case.id in top.passed)
        if top.weight <= majority * answers or len(kept) < share * len(poll.cases):
            return Ruling(kept=kept, questions=questions, why="Too little agrees.")
        return Ruling(order=tuple(ballot.attempt for ballot in top.ballots), kept=kept, questions=questions)

    return rule


RULES = {
    "consensus 0.5/0.2": consensus(majority=0.5, share=0.2),
    "consensus 0.5/0.4": consensus(majority=0.5, share=0.4),
    "consensus 0.5/0.8": consensus(majority=0.5, share=0.8),
}
