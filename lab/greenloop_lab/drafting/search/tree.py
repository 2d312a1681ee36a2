"""A tree of strategies, solutions and reflections, searched depth first, guided by a critic.

After CodeTree (arXiv 2411.04329; its repository: depth 3, 20 generations): a Thinker lists strategies, a Solver writes
one solution for each; a Critic scores a failing solution and adds reflections, each of which a Debugger follows.
A child worse than its parent is dropped; a deep one also when it is only as good.

Thinker and Critic are the feedback part `codetree`; its notes carry the fields that are read here:
`strategies` (of attempt 0), `reflections`, `score` (0 to 5), `reject` (the strategy leads nowhere), `approve`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from greenloop.core.election import is_valid
from greenloop.core.records.attempt import Attempt, Draft, Move
from greenloop.core.records.model import Role
from greenloop.core.records.problem import Problem
from greenloop.drafting.search._progress import HOTTEST, STEP

WIDTH = 3  # drafts where there are no strategies
DEPTH = 3
DEEP = 2  # from this depth on a child must be better than its parent
WEIGHT = 1 / 15  # of a point of the critic's score, added to the share of tests passed


def plan(problem: Problem, attempts: Sequence[Attempt]) -> Sequence[Draft]:  # noqa: ARG001
    """The next reflection on the newest live branch, else the next strategy; stalled when all were tried."""
    node = attempts[-1]
    while node.number:
        if is_rejected(node):
            break
        if (
            not is_dropped(node, attempts)
            and depth(node, attempts) < DEPTH
            and (drafts := _reflection_drafts(node, attempts))
        ):
            return drafts
        node = attempts[node.parent or 0]
    return _strategy_drafts(attempts)


def _reflection_drafts(node: Attempt, attempts: Sequence[Attempt]) -> Sequence[Draft]:
    reflections = texts(node, "reflections") or [""]
    tried = _children(node.number, attempts)
    if tried >= len(reflections):
        return []
    hint = reflections[tried]
    return [
        Draft(
            parent=node.number,
            move=Move.REFINE,
            role=Role.REFINER,
            hint=hint,
            prompt="reflection" if hint else "",
        )
    ]


def _strategy_drafts(attempts: Sequence[Attempt]) -> Sequence[Draft]:
    """A draft for the next strategy; without strategies, plain drafts at rising temperatures."""
    strategies = texts(attempts[0], "strategies")
    tried = _children(0, attempts)
    if tried >= (len(strategies) or WIDTH):
        return []
    hint = strategies[tried] if strategies else ""
    return [
        Draft(
            parent=0,
            move=Move.DRAFT,
            role=Role.DRAFTER,
            temperature=0.0 if hint else min(HOTTEST, STEP * tried),
            hint=hint,
            prompt="strategy" if hint else "",
        )
    ]


def is_rejected(node: Attempt) -> bool:
    """Did the critic give up the whole branch, so that the search goes back to the root?"""
    return field(node, "reject") is True


def is_dropped(node: Attempt, attempts: Sequence[Attempt]) -> bool:
    """Is it worse than its parent, or deep and no better? A strategy's first solution has nothing to compare with."""
    if not node.parent:
        return False
    own_value, parent_value = value(node), value(attempts[node.parent])
    if own_value == parent_value:
        return depth(node, attempts) >= DEEP and field(node, "approve") is not True
    return own_value < parent_value


def value(node: Attempt) -> float:
    """The share of tests passed plus a little for the critic's score; 0 without a valid run."""
    score = field(node, "score")
    opinion = WEIGHT * score if isinstance(score, int | float) else 0.0
    return node.verdict.score + opinion if is_valid(node) else 0.0


def depth(node: Attempt, attempts: Sequence[Attempt]) -> int:
    """Steps from the root: 1 for the solution of a strategy."""
    steps = 0
    while node.number:
        steps, node = steps + 1, attempts[node.parent or 0]
    return steps


def texts(node: Attempt, name: str) -> list[str]:
    items = field(node, name)
    return [str(each) for each in items] if isinstance(items, list | tuple) else []


def field(node: Attempt, name: str) -> Any:
    """The newest note's value of a field; None where no note has it."""
    return next((note.fields[name] for note in reversed(node.notes) if name in note.fields), None)


def _children(number: int, attempts: Sequence[Attempt]) -> int:
    return sum(attempt.parent == number for attempt in attempts)
