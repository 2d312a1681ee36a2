"""From cheap to dear: changes that cost no token, holes that cost a dozen, samples, and repairs of the best of them.

What a small model needs, measured (docs/evidence.md): it fills holes far better than it repairs a function it is
shown, and its next sample is worth more than its next repair.
Each rung starts from the best attempt; an attempt that passes more tests than any before puts the cheap rungs first
again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from greenloop.core.compose import region_text
from greenloop.core.hole import inserts, masks, pairs
from greenloop.core.loop import best
from greenloop.core.nouns import Attempt, Draft, Group, Mask, Move, Problem, Role
from greenloop.core.source import piece
from greenloop.core.unwritten import unwritten
from greenloop.search._progress import SAMPLED

SIDE_BY_SIDE = 4
HOLES, RANGES, LINES = 12, 8, 8  # statements, pairs of them and new lines that are filled on one attempt
CORRECTED = (0.0, 0.7)


def plan(problem: Problem, attempts: Sequence[Attempt]) -> Sequence[Draft]:
    """The next round; empty when every rung was tried."""
    done = [attempt.draft for attempt in attempts if attempt.draft]
    for rung in _repairing(problem, attempts) if _written(problem) else _writing(problem, attempts):
        if fresh := _left(rung, done):
            return fresh[:SIDE_BY_SIDE]
    return []


def _repairing(problem: Problem, attempts: Sequence[Attempt]) -> Iterator[list[Draft]]:
    """The function is there and wrong somewhere: climb on it, or on the first that passes more tests."""
    top = best(attempts)
    base = top if top and top.verdict.score > attempts[0].verdict.score else attempts[0]
    yield [_mutate(base)]
    ordered = masks(problem, base)
    yield _holes(base, ordered[:SIDE_BY_SIDE])
    yield [Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER)]
    yield _holes(base, ordered[SIDE_BY_SIDE:HOLES])
    yield [Draft(parent=0, move=Move.RESTART, role=Role.DRAFTER)]
    yield _holes(base, pairs(ordered)[:RANGES])
    yield _holes(base, inserts(ordered)[:LINES])
    yield from _samples(attempts)


def _writing(problem: Problem, attempts: Sequence[Attempt]) -> Iterator[list[Draft]]:
    """There is nothing yet, so that the first step is a whole answer."""
    yield [Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER)]
    yield [Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER, temperature=heat) for heat in SAMPLED]
    if problem.spec.open:  # more answers are more votes; small changes would only fit tests that may be wrong
        yield [Draft(parent=0, move=Move.RESTART, role=Role.DRAFTER, temperature=heat) for heat in SAMPLED]
        return
    if base := best(attempts):
        if sum(case.executed for case in problem.spec.cases) > 1:  # a single one is passed too easily
            yield [_mutate(base)]
        yield _corrections(base)


def _samples(attempts: Sequence[Attempt]) -> Iterator[list[Draft]]:
    yield [Draft(parent=0, move=Move.RESTART, role=Role.DRAFTER, temperature=heat) for heat in SAMPLED]
    drafted = [attempt for attempt in attempts if attempt.draft and attempt.draft.move in (Move.DRAFT, Move.RESTART)]
    if top := best(drafted):
        yield _corrections(top)


def _corrections(base: Attempt) -> list[Draft]:
    """What the best candidate gave instead, told without its code, which would be copied.

    Of wrong values this repaired none, measured; of exceptions a model makes something.
    """
    if base.group is Group.LOGIC:
        return []
    return [
        Draft(parent=base.number, move=Move.RESTART, role=Role.REFINER, temperature=heat, prompt="afresh")
        for heat in CORRECTED
    ]


def _mutate(base: Attempt) -> Draft:
    return Draft(parent=base.number, move=Move.MUTATE, role=Role.REFINER)


def _holes(base: Attempt, chosen: Sequence[Mask]) -> list[Draft]:
    return [Draft(parent=base.number, move=Move.INFILL, role=Role.REFINER, masked=mask) for mask in chosen]


def _left(rung: Sequence[Draft], done: Sequence[Draft]) -> list[Draft]:
    """What of a rung was not tried yet."""
    return [draft for draft in rung if draft not in done]


def _written(problem: Problem) -> bool:
    """Is there code to repair, or only a place for it? Code that Python cannot read is written anew."""
    texts = [region_text(problem, region) for region in problem.regions if not region.created]
    return any(not unwritten(text) and not isinstance(piece(text), SyntaxError) for text in texts)
