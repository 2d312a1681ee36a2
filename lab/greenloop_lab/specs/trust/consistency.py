"""Ranks candidates by weighted tests and by other candidates that behave the same.

ConAIR (arXiv 2411.15587): inter-consistency is between codes and tests, intra-consistency among codes. A test counts as
much as the candidates that pass it, a candidate as much as the tests it passes; this converges in a few rounds.
"""

from __future__ import annotations

from greenloop.plugins.written_tests.polls import Poll, Ruling, find_clusters, rank_by_split

ROUNDS = 10  # of mutual weighting; the order is stable after three or four
BELIEVED = 0.5  # share of the best test's weight that a test needs to be kept


def rule(poll: Poll) -> Ruling:
    """Believes the best cluster, once a test of the user's own speaks for it or no more candidates will come."""
    ranked = find_clusters(poll)
    if not ranked:
        return Ruling(why="No candidate passes all tests that must hold.")
    questions = rank_by_split(ranked, poll.cases)
    total = sum(cluster.weight for cluster in ranked)
    worth = {case.id: 1.0 for case in poll.cases}
    scores = [0.0] * len(ranked)
    for _ in range(ROUNDS):
        # intra: the cluster's own share; inter: the worth of the tests it passes
        scores = [
            (cluster.weight / total) * (1 + sum(worth[case] for case in cluster.passed if case in worth))
            for cluster in ranked
        ]
        passed = {
            case: sum(score for score, cluster in zip(scores, ranked, strict=True) if case in cluster.passed)
            for case in worth
        }
        highest = max(passed.values(), default=0.0) or 1.0
        worth = {case: value / highest for case, value in passed.items()}
    best = ranked[max(range(len(ranked)), key=lambda number: (scores[number], -number))]
    kept_ids = tuple(case.id for case in poll.cases if case.id in best.passed and worth[case.id] >= BELIEVED)
    if not poll.is_final and not poll.binding_count:
        return Ruling(kept=kept_ids, questions=questions, why="You have not confirmed a test yet.")
    if not kept_ids and not poll.binding_count:
        return Ruling(questions=questions, why="The candidates that agree pass none of the generated tests.")
    return Ruling(order=tuple(ballot.attempt for ballot in best.ballots), kept=kept_ids, questions=questions)
