"""The default: candidates and tests must bear each other out, and more than half of the answers must behave alike.

Both halves are needed: candidates that agree on a mistake fail tests that were written without seeing them, and a test
that is wrong is failed by all of them (inter- and intra-consistency, ConAIR; dual execution agreement, CodeT).
"""

from __future__ import annotations

from dataclasses import replace

from greenloop.core.poll import Poll, Ruling, clusters, splitting

ENOUGH = 5  # answers before anybody is believed
SHARE = 0.6  # of the tests that a believed candidate passes (AgentCoder's bar)


def rule(poll: Poll) -> Ruling:
    """The heaviest cluster, where it has the majority and passes three of five tests.

    Where only one of that holds and the user's own examples do, it is believed with a doubt.
    """
    found = clusters(poll)
    standing = sum(ballot.weight for ballot in poll.ballots)
    answers = max(poll.answers, standing)
    if answers < ENOUGH and not poll.over:
        return Ruling(why=f"Only {answers} of {ENOUGH} answers are there to compare.")
    if not found:
        return Ruling(why="No candidate passes what must hold.")
    top = max(found, key=lambda each: (each.weight * len(each.passed), each.weight))
    kept = tuple(case.id for case in poll.cases if case.id in top.passed)
    ruling = Ruling(
        order=tuple(ballot.attempt for ballot in top.ballots), kept=kept, questions=splitting(found, poll.cases)
    )
    failed = len(poll.cases) - len(kept)
    if 2 * top.weight <= standing:
        why = "The candidates do not agree on what the function does."
        believed = poll.binding and poll.over
    elif len(kept) < SHARE * len(poll.cases):
        why = f"The candidates agree, but fail {failed} of {len(poll.cases)} designed tests."
        believed = bool(poll.binding)
    else:
        return ruling
    return replace(ruling, doubt=why) if believed else replace(ruling, order=(), why=why)
