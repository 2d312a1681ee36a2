"""The default rule: candidates and tests support each other, and most answers behave the same.

Both are needed: candidates that agree on a mistake fail tests that were written without seeing them, and a wrong test
is failed by all of them (inter- and intra-consistency, ConAIR; dual execution agreement, CodeT).
"""

from __future__ import annotations

from dataclasses import replace

from greenloop.plugins.written_tests.polls import Poll, Ruling, find_clusters, rank_by_split

ENOUGH = 5  # answers before any candidate is believed
SHARE = 0.6  # share of the tests that a believed candidate passes (AgentCoder's threshold)


def rule(poll: Poll) -> Ruling:
    """Believes the heaviest cluster if it has the majority and passes three of five tests.

    If only one of these holds, it is believed with a doubt where the user's own examples hold.
    """
    ranked = find_clusters(poll)
    standing_weight = sum(ballot.weight for ballot in poll.ballots)
    answers = max(poll.answer_count, standing_weight)
    if answers < ENOUGH and not poll.is_final:
        return Ruling(why=f"Only {answers} of {ENOUGH} answers can be compared.")
    if not ranked:
        return Ruling(why="No candidate passes all tests that must hold.")
    best = max(ranked, key=lambda each: (each.weight * len(each.passed), each.weight))
    kept_ids = tuple(case.id for case in poll.cases if case.id in best.passed)
    ruling = Ruling(
        order=tuple(ballot.attempt for ballot in best.ballots),
        kept=kept_ids,
        questions=rank_by_split(ranked, poll.cases),
    )
    failed = len(poll.cases) - len(kept_ids)
    if 2 * best.weight <= standing_weight:
        why = "The candidates do not agree on what the function does."
        believed = poll.binding_count and poll.is_final
    elif len(kept_ids) < SHARE * len(poll.cases):
        why = f"The candidates agree, but fail {failed} of {len(poll.cases)} generated tests."
        believed = bool(poll.binding_count)
    else:
        return ruling
    return replace(ruling, doubt=why) if believed else replace(ruling, order=(), why=why)
