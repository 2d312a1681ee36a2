"""For capable models: one-token changes while the first question is under way, then the turns of a conversation.

An answer that passes more tests than the code before it stays, and the next one builds on it; any other is taken back.
"""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.election import base_of_turns
from greenloop.core.records.attempt import Attempt, Draft, Move
from greenloop.core.records.model import Role
from greenloop.core.records.problem import Problem
from greenloop.drafting.search import ladder

CHANGED_FIRST = 3  # suspects whose one-token changes are tried


def plan(problem: Problem, attempts: Sequence[Attempt], *, has_answer: bool = False) -> Sequence[Draft]:
    """Returns the one-token changes of one suspect, as long as no answer has come, else the next turn.

    A value of a data file that the failure shows is corrected first in any case: an answer may state it in the code.
    """
    if len(attempts) == 1 and any(each.line for each in problem.data):
        return [Draft(parent=0, move=Move.MUTATE, role=Role.REFINER)]
    has_turns = any(attempt.draft and attempt.draft.move is Move.TURN for attempt in attempts)
    if not (has_answer or has_turns) and (ladder.is_written(problem) or ladder.is_broken(problem)):
        focuses = [(), *((region,) for region in problem.suspects)][:CHANGED_FIRST]
        changes = [Draft(parent=0, move=Move.MUTATE, role=Role.REFINER, regions=regions) for regions in focuses]
        tried = [attempt.draft for attempt in attempts]
        if waiting := [draft for draft in changes if draft not in tried]:
            return waiting[:1]
    return [Draft(parent=base_of_turns(attempts).number, move=Move.TURN, role=Role.DRAFTER)]
