"""Candidates by what speaks for them: tests they pass, weighted by who passes those, and others that behave alike.

ConAIR (arXiv 2411.15587): inter-consistency is between codes and tests, intra-consistency among codes. A test counts as
much as the candidates that pass it, a candidate as much as the tests it passes; a few rounds of that settle.
"""

from __future__ import annotations

from greenloop.core.poll import Poll, Ruling, clusters, splitting

ROUNDS = 10  # of mutual weighting; the order stands after three or four
BELIEVED = 0.5  # of the best test's weight, from which on a test is kept


def rule(poll: Poll) -> Ruling:
    """The best cluster, once an answer of the user speaks for it or no candidate comes any more."""
    found = clusters(poll)
    if not found:
        return Ruling(why="No candidate passes what must hold.")
    questions = splitting(found, poll.cases)
    total = sum(cluster.weight for cluster in found)
    worth = {case.id: 1.0 for case in poll.cases}
    scores = [0.0] * len(found)
    for _ in range(ROUNDS):
        # intra: the cluster's own share; inter: the worth of the tests it passes
        scores = [
            (cluster.weight / total) * (1 + sum(worth[case] for case in cluster.passed if case in worth))
            for cluster in found
        ]
        passed = {
            case: sum(score for score, cluster in zip(scores, found, strict=True) if case in cluster.passed)
            for case in worth
        }
        most = max(passed.values(), default=0.0) or 1.0
        worth = {case: value / most for case, value in passed.items()}
    top = found[max(range(len(found)), key=lambda number: (scores[number], -number))]
    kept = tuple(case.id for case in poll.cases if case.id in top.passed and worth[case.id] >= BELIEVED)
    if not poll.over and not poll.binding:
        return Ruling(kept=kept, questions=questions, why="Nobody has confirmed a test yet.")
    if not kept and not poll.binding:
        return Ruling(questions=questions, why="No test that was written is passed by the candidates that agree.")
    return Ruling(order=tuple(ballot.attempt for ballot in top.ballots), kept=kept, questions=questions)
