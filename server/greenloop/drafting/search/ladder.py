"""From cheap to expensive: one-token changes, merges, infills, whole answers, and samples as far as there is room.

Ordered by what small models do well, as measured (lab/docs/evidence.md): they fill masked lines far better than they
repair a function they are shown, and their next sample is worth more than their next repair.
Each rung starts from the best attempt; one that passes more tests than any before it puts the cheap rungs first again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from greenloop.core.classify import failure_key, named_functions
from greenloop.core.compose import region_text
from greenloop.core.election import CHEAP, WITHOUT_MODEL, best_attempt, is_valid
from greenloop.core.python.ast_source import parse_fragment
from greenloop.core.python.stubs import is_unwritten
from greenloop.core.records.attempt import Attempt, Draft, Mask, Move
from greenloop.core.records.model import Role, Room
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region
from greenloop.core.records.verdict import Verdict
from greenloop.drafting.infill import insertion_masks, pair_masks, rank_masks
from greenloop.drafting.search._filling import (
    filling_rungs,
    furthest,
    is_further,
    plan_merges,
    stopped_in,
    untried,
    with_reached,
)
from greenloop.drafting.search._progress import COPIES, WHOLE_ANSWERS, count_advanced, further_samples
from greenloop.project.settings import LadderSettings

FIRST_TURN = 3  # rungs of one suspect (one-token changes, infills, a whole answer) before the next has its turn
# Functions whose one-token changes come before any question. The fault was in one of the first three in 49 of 58 past
# fixes (lab/docs/localisation.md), and holes in the best cost fewer seconds than the changes of all others.
CHANGED_FIRST = 3
SECOND_FILLINGS = 4  # holes whose next best filling is tried
# The rung of one-token changes, which is always the first, the holes, and a whole answer.
CHANGES, HOLES, ANSWER = "changes", "holes", "answer"
TRIES_CHANGES = True  # it begins with one-token changes
STEPS = LadderSettings()
ROOM = Room()

Rung = tuple[str, list[Draft]]  # its name in `ladder.order`, and its drafts


def plan(
    problem: Problem, attempts: Sequence[Attempt], steps: LadderSettings = STEPS, room: Room = ROOM
) -> Sequence[Draft]:
    """The next drafts of the first rung that is not exhausted, as many as the model answers at once; else none.

    Without a slot no model is asked.
    """
    rungs = _rungs(problem, attempts, steps, room)
    if not room.slots:
        rungs = ([draft for draft in rung if draft.move in WITHOUT_MODEL] for rung in rungs)
    return untried(rungs, attempts, max(room.slots, 1))


def _rungs(problem: Problem, attempts: Sequence[Attempt], steps: LadderSettings, room: Room) -> Iterator[list[Draft]]:
    if is_written(problem):
        return _rungs_of_all(problem, attempts, steps, room)
    problem = with_reached(problem, attempts)
    several = len(problem.regions) > 1
    rungs = filling_rungs(problem, attempts) if several else _writing_rungs(problem, attempts, steps)
    first = [[_mutate(attempts[0])]] if is_broken(problem) else []
    beside, later = (_rungs_beside(problem, attempts, steps, at_once=at_once) for at_once in (True, False))
    further = [] if problem.spec.open else [further_samples(attempts, Move.DRAFT, steps.temperatures, room)]
    return chain(first, [next(rungs)], beside, rungs, later, further)


@dataclass(frozen=True, kw_only=True)
class _Focus:
    """One suspect (or the regions that were chosen first), and the attempts that were about it."""

    problem: Problem
    regions: tuple[Region, ...]
    attempts: Sequence[Attempt]

    def rungs(self, steps: LadderSettings) -> list[Rung]:
        rungs = _repair_rungs(self.problem, self.attempts, steps.brief if self.regions else steps.first, steps)
        return [(name, [replace(draft, regions=self.regions) for draft in rung]) for name, rung in rungs]

    @property
    def gain(self) -> tuple[float, int]:
        """Returns how much better the best attempt is than the user's code, and how many cases got further."""
        best, baseline = best_attempt(self.attempts), self.attempts[0]
        score = max(best.verdict.score - baseline.verdict.score, 0.0) if best else 0.0
        advanced = (count_advanced(attempt, baseline) for attempt in self.attempts if is_valid(attempt))
        return score, max(advanced, default=0)

    @property
    def is_exhausted(self) -> bool:
        """Has the model nothing to say about it but the code that is there?"""
        asked = [attempt for attempt in self.attempts if attempt.draft and attempt.draft.move in WHOLE_ANSWERS]
        return bool(asked) and all(attempt.error_class in COPIES for attempt in asked)


def _rungs_of_all(
    problem: Problem, attempts: Sequence[Attempt], steps: LadderSettings, room: Room
) -> Iterator[list[Draft]]:
    """The rungs of the first regions and of each suspect in turn: the cheap rungs of all, the others, more samples.

    The one-token changes of the later suspects wait for the holes of the best one.
    A suspect whose change passes more tests, or lets them fail later, comes first; one of which the model only repeats
    the code comes last. A whole answer that could have changed a suspect too stands for that suspect's own first one.
    """
    focuses = [_focus(problem, regions, attempts) for regions in ((), *((region,) for region in problem.suspects))]
    rungs = {focus.regions: focus.rungs(steps) for focus in focuses}
    # An assignment is tried after all functions, which are more often at fault.
    in_turn = sorted(focuses, key=lambda focus: all(region.assigns for region in focus.problem.regions))
    focuses.sort(key=lambda focus: (*(-part for part in focus.gain), focus.is_exhausted))
    changes = [rungs[focus.regions][0][1] for focus in in_turn]
    yield from changes[:CHANGED_FIRST]
    yield _merges(attempts)
    yield from (rung for name, rung in rungs[focuses[0].regions][1:2] if name == HOLES)
    yield from changes[CHANGED_FIRST:]
    shown = _shown_beside(problem, attempts)
    turns = [_turns(rungs[focus.regions], shown >= {*focus.problem.regions}) for focus in focuses]
    for first, _later in turns:
        yield from first
    for _first, later in turns:
        yield from later
    best = focuses[0]
    samples = further_samples(best.attempts, Move.RESTART, steps.temperatures, room)
    yield [replace(draft, regions=best.regions) for draft in samples]


def _turns(rungs: Sequence[Rung], is_answered: bool) -> tuple[list[list[Draft]], list[list[Draft]]]:
    """The rungs after the first one: those of the first turn, without an answer that another stands for; the others."""
    first = [name for name, _rung in rungs[1:FIRST_TURN] if not (is_answered and name == ANSWER)]
    return [rung for name, rung in rungs if name in first], [rung for name, rung in rungs[1:] if name not in first]


def _merges(attempts: Sequence[Attempt]) -> list[Draft]:
    """Answers about different functions, where one of the two fails otherwise than the user's code."""
    return plan_merges(attempts, lambda first, second: _changes_others(first, second, attempts[0]))


def _changes_others(first: Attempt, second: Attempt, baseline: Attempt) -> bool:
    if any(each.draft is None or each.draft.move not in WHOLE_ANSWERS for each in (first, second)):
        return False
    is_elsewhere = first.candidate and second.candidate and not {*first.candidate.texts} >= {*second.candidate.texts}
    return bool(is_elsewhere) and any(failure_key(each) != failure_key(baseline) for each in (first, second))


def _shown_beside(problem: Problem, attempts: Sequence[Attempt]) -> set[Region]:
    """The suspects that whole answers about others could have changed too."""
    asked = {each.draft.regions for each in attempts if each.draft and each.draft.move is Move.DRAFT}
    return {
        region
        for regions in asked
        for region in problem.opened(regions).regions
        if region not in problem.focused(regions).regions
    }


def _focus(problem: Problem, regions: tuple[Region, ...], attempts: Sequence[Attempt]) -> _Focus:
    focused = problem.focused(regions)

    def is_about(attempt: Attempt) -> bool:
        if attempt.candidate is not None:
            return any(region in focused.regions for region in attempt.candidate.texts)
        return attempt.draft is None or attempt.draft.regions == regions

    return _Focus(problem=focused, regions=regions, attempts=[attempt for attempt in attempts if is_about(attempt)])


def _repair_rungs(problem: Problem, attempts: Sequence[Attempt], first: int, steps: LadderSettings) -> Iterator[Rung]:
    """Rungs for code that exists and is wrong somewhere; they start from it, or from a better attempt.

    `first` infills are in the rung `holes`. The order is that of the settings.
    """
    base = _base(attempts)
    yield CHANGES, [_mutate(base)]
    # No statement is at fault of a function that did not run, since its arguments do not fit.
    named = named_functions(case.failure for case in base.verdict.cases)
    ordered = [] if any(region.qualname in named for region in problem.regions) else rank_masks(problem, base)
    rungs = {
        HOLES: _infills(base, ordered[:first]),
        ANSWER: [Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER)],
        "more-holes": _infills(base, ordered[first : steps.holes]),
        "another": [Draft(parent=0, move=Move.RESTART, role=Role.DRAFTER)],
        "second-fillings": _infills(base, ordered[:SECOND_FILLINGS], choice=1),
        "pairs": _infills(base, pair_masks(ordered)[: steps.pairs]),
        "inserts": _infills(base, insertion_masks(ordered)[: steps.inserts]),
        "samples": [
            Draft(parent=0, move=Move.RESTART, role=Role.DRAFTER, temperature=heat) for heat in steps.temperatures
        ],
    }
    yield from ((name, rungs[name]) for name in steps.order)


def _base(attempts: Sequence[Attempt]) -> Attempt:
    """The best attempt that is better than the user's code, else that.

    A small change that breaks other tests, or leaves them red, is not a step: the target passes with any other filling.
    """
    steps = [each for each in attempts if not (_is_partial(each.verdict) and each.draft and each.draft.move in CHEAP)]
    best = best_attempt(steps)
    return best if best and best.verdict.score > attempts[0].verdict.score else attempts[0]


def _is_partial(verdict: Verdict) -> bool:
    return bool(verdict.collateral or verdict.still_red)


def _writing_rungs(problem: Problem, attempts: Sequence[Attempt], steps: LadderSettings) -> Iterator[list[Draft]]:
    """Rungs for code that is yet to be written: the first one is a whole answer."""
    yield [Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER)]
    yield [Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER, temperature=heat) for heat in steps.temperatures]
    if problem.spec.open:  # more answers are more votes; small changes would only fit tests that may be wrong
        yield [Draft(parent=0, move=Move.RESTART, role=Role.DRAFTER, temperature=heat) for heat in steps.temperatures]
        return
    base = best_attempt(attempts)
    if base and sum(case.executed for case in problem.spec.cases) > 1:  # a single case is passed too easily
        yield [_mutate(base)]


def _rungs_beside(
    problem: Problem, attempts: Sequence[Attempt], steps: LadderSettings, *, at_once: bool
) -> Iterator[list[Draft]]:
    """Rungs for written functions in which tests stop: not all is to be written.

    They start from the best answer, which they leave as it is. `at_once`: tests stop there with the answer as without
    it. Where only an answer lets tests stop the function is mostly right and the answer is not, unless the answer lets
    tests get further, to calls that they did not reach before.
    """
    base = furthest(attempts)
    written = tuple(region for region in problem.suspects if not is_unwritten(region_text(problem, region)))
    stops = (stopped_in(replace(problem, regions=written), each) for each in (base, attempts[0]))
    still, before = stops if base.number and written else ((), ())
    if not at_once and not is_further(base, attempts[0]):
        return
    for region in (each for each in still if (each in before) is at_once):
        masks = rank_masks(problem.focused((region,)), base)[: steps.brief]
        for rung in (
            [_mutate(base)],
            _infills(base, masks),
            [Draft(parent=base.number, move=Move.REFINE, role=Role.REFINER)],
        ):
            yield [replace(draft, regions=(region,)) for draft in rung]


def _mutate(base: Attempt) -> Draft:
    return Draft(parent=base.number, move=Move.MUTATE, role=Role.REFINER)


def _infills(base: Attempt, chosen: Sequence[Mask], choice: int = 0) -> list[Draft]:
    plain = Draft(parent=base.number, move=Move.INFILL, role=Role.REFINER, choice=choice)
    return [replace(plain, masked=mask) for mask in chosen]


def is_written(problem: Problem) -> bool:
    """Is there code to repair? Stubs, and code that Python cannot parse, are written anew."""
    return any(not is_unwritten(text) and not _is_unparsable(text) for text in _own_texts(problem))


def is_broken(problem: Problem) -> bool:
    """Is there code that Python cannot parse, for more than that its body is missing?"""
    return any(not is_unwritten(text) and _is_unparsable(text) for text in _own_texts(problem))


def _own_texts(problem: Problem) -> list[str]:
    return [region_text(problem, region) for region in problem.regions if not region.created]


def _is_unparsable(text: str) -> bool:
    return isinstance(parse_fragment(text), SyntaxError)
