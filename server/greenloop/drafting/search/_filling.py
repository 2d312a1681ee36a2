"""Rungs for several functions that are all to be written: one answer for all, then one after the other.

What an attempt has filled stays: an answer about one function is laid over the others of its parent. Where the tests
stop says which function is next; the idea of filling a skeleton in the order of its calls is ProjectGen's.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from greenloop.core.compose import region_text, text_in
from greenloop.core.election import is_valid
from greenloop.core.python.stubs import is_unwritten
from greenloop.core.records.attempt import Attempt, Draft, Move
from greenloop.core.records.model import Role
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region
from greenloop.core.text.diff import split_lines
from greenloop.drafting.search._progress import SAMPLE_TEMPERATURES, failing_lines
from greenloop_sandbox import CaseResult

ANSWERS = (Move.DRAFT, Move.REFINE)
FIRST = 2  # functions that are written anew before all are
HOT = 0.7  # temperature of an answer that does not see the code that failed


def filling_rungs(problem: Problem, attempts: Sequence[Attempt]) -> Iterator[list[Draft]]:
    """Rungs that begin with one answer for all functions; each later one starts from the best attempt so far.

    A function that an answer wrote, and in which the tests fail, is written anew without being shown: asked to refine
    it, the embedded model repeated its code in 27 of 40 answers (lab/docs/evidence.md).
    """
    yield [Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER)]
    base = furthest(attempts)
    order = failing_first(problem, base)
    if base.number and len(problem.spec.cases) > 1:  # a single case is passed too easily
        yield [Draft(parent=base.number, move=Move.MUTATE, role=Role.REFINER)]
    yield plan_merges(attempts, _refine_others)  # answers about different functions
    for region in order:
        if is_unwritten(text_in(problem, base.candidate, region)):
            yield [_about(region, base)]
    for region in order[:FIRST]:
        yield [_about(region, base, heat=HOT)]
    yield [Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER, temperature=heat) for heat in SAMPLE_TEMPERATURES]
    for region in order[FIRST:]:
        yield [_about(region, base, heat=HOT)]
    for region in order:
        yield [_about(region, base)]


def with_reached(problem: Problem, attempts: Sequence[Attempt]) -> Problem:
    """The problem with those suspects, too, that are still to be written and in which attempts stop.

    What a test needs is seen only when what comes before is written: the text names no class that a method returns.
    """
    waiting = [region for region in problem.suspects if is_unwritten(region_text(problem, region))]
    if not waiting:
        return problem
    known = {_name(region) for region in problem.regions}
    valid = [attempt for attempt in attempts[1:] if is_valid(attempt)]
    failing = [case for attempt in valid for case in attempt.verdict.cases if not case.passed]
    stops = {
        region: None
        for case in failing
        for region in _innermost(waiting, case)
        or [each for each in _named_regions(problem, waiting, case) if _name(each) not in known]
    }
    owners = {(region.path, region.qualname.rpartition(".")[0]) for region in stops if "." in region.qualname}
    special = [each for each in waiting if _name(each).startswith("_")]
    belonging = [each for each in special if (each.path, each.qualname.rpartition(".")[0]) in owners]
    return problem.focused((*problem.regions, *dict.fromkeys((*belonging, *stops)))) if stops else problem


def furthest(attempts: Sequence[Attempt]) -> Attempt:
    """The attempt that passes most cases, and of these the one in which the others get furthest."""
    valid = [each for each in attempts[1:] if is_valid(each)]
    return max(valid, key=_progress, default=attempts[0])


def _progress(attempt: Attempt) -> tuple[float, int, int, int]:
    """Cases that pass, how far the others get, how many functions it fills; the earlier one of equals."""
    filled = len(attempt.candidate.texts) if attempt.candidate else 0
    return attempt.verdict.score, sum(failing_lines(attempt).values()), filled, -attempt.number


def is_further(attempt: Attempt, base: Attempt) -> bool:
    """Does it pass more cases, or as many and the others get further?"""
    return _progress(attempt)[:2] > _progress(base)[:2]


def untried(rungs: Iterable[Sequence[Draft]], attempts: Sequence[Attempt], most: int = 1) -> Sequence[Draft]:
    """The first drafts of the first rung that has not been tried as a whole; at most `most`."""
    tried = [attempt.draft for attempt in attempts if attempt.draft]
    return next((left[:most] for rung in rungs if (left := [draft for draft in rung if draft not in tried])), [])


def stopped_in(problem: Problem, attempt: Attempt) -> list[Region]:
    """The regions in which failing cases of the attempt stop, those of most cases first."""
    stops = Counter(region for case in attempt.verdict.cases if not case.passed for region in _stops(problem, case))
    return [region for region, _count in stops.most_common()]


def failing_first(problem: Problem, attempt: Attempt) -> list[Region]:
    """The regions in the order in which to go on: where most failing cases stop, then backwards along the calls.

    One that has just been written for this attempt comes after those where nothing was done about a failure.
    """
    stops = Counter(region for case in attempt.verdict.cases if not case.passed for region in _stops(problem, case))
    done = attempt.draft.regions if attempt.draft else ()
    last = max((index for index, region in enumerate(problem.regions) if region in stops), default=0)
    before, after = problem.regions[: last + 1], problem.regions[last + 1 :]
    return sorted((*reversed(before), *after), key=lambda region: (region in done, -stops[region]))


def _stops(problem: Problem, case: CaseResult) -> list[Region]:
    """The innermost region in which a case failed, else those that its failing statement names."""
    return _innermost(problem.regions, case) or _named_regions(problem, problem.regions, case)


def _named_regions(problem: Problem, regions: Sequence[Region], case: CaseResult) -> list[Region]:
    """Those that the failing statement of a case names."""
    frames = case.failure.frames if case.failure else ()
    own = next((frame for frame in reversed(frames) if frame.path == case.id.partition("::")[0]), None)
    rows = split_lines(problem.files.get(own.path, "")) if own else []
    statement = rows[own.line - 1] if own and own.line <= len(rows) else ""
    return [region for region in regions if re.search(rf"\b{re.escape(_name(region))}\b", statement)]


def _innermost(regions: Sequence[Region], case: CaseResult) -> list[Region]:
    """The region in which a case failed last; several where their names do not tell them apart.

    The accessors of a property have one name, and before Python 3.11 a frame names no class.
    """
    for frame in reversed(case.failure.frames if case.failure else ()):
        inside = [region for region in regions if region.path == frame.path]
        names = {region: region.qualname if "." in frame.function else _name(region) for region in inside}
        if stopped := [region for region in inside if names[region] == frame.function]:
            return stopped
    return []


def _name(region: Region) -> str:
    return region.qualname.rpartition(".")[2]


def _about(region: Region, base: Attempt, heat: float = 0.0) -> Draft:
    """A draft for one region that keeps what the base has for the others; a hot one sees these alone."""
    if not base.number:
        return Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER, regions=(region,), temperature=heat)
    if not heat:
        return Draft(parent=base.number, move=Move.REFINE, role=Role.REFINER, regions=(region,))
    return Draft(
        parent=base.number,
        move=Move.DRAFT,
        role=Role.DRAFTER,
        regions=(region,),
        temperature=heat,
        prompt="filled",
    )


def plan_merges(attempts: Sequence[Attempt], complement: Callable[[Attempt, Attempt], bool]) -> list[Draft]:
    """A merge of each attempt that was run with the earlier ones that complement it, for no tokens."""
    valid = [each for each in attempts[1:] if is_valid(each)]
    pairs = [
        (newest, tuple(each.number for each in valid[:index] if complement(each, newest)))
        for index, newest in enumerate(valid)
    ]
    return [
        Draft(parent=newest.number, move=Move.MERGE, role=Role.REFINER, others=others)
        for newest, others in pairs
        if others
    ]


def _refine_others(first: Attempt, second: Attempt) -> bool:
    asked = [each.draft.regions for each in (first, second) if each.draft and each.draft.move in ANSWERS]
    return len(asked) == 2 and first.parent == second.parent and all(asked) and asked[0] != asked[1]
