"""Attempts that no model is asked for: an attempt with the imports that it lacks, its one-token changes, and merges.

Each tests many candidates and is one attempt: the best of them, or a finding where none passes more tests.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from time import monotonic

from greenloop.core.compose import compose
from greenloop.core.records.attempt import Attempt, Candidate, Draft, FeedbackNote, Finding, Move
from greenloop.core.records.problem import Problem
from greenloop.core.records.verdict import Status, Verdict
from greenloop.drafting.candidates.answers.imports_and_helpers import with_missing_imports
from greenloop.drafting.candidates.changes.change import merge
from greenloop.drafting.candidates.changes.mutate import Stage, corrected_data, mutants
from greenloop.drafting.candidates.checks.gate import check
from greenloop.engine.loop.candidate_runs import find_duplicate, with_finding, with_verdict
from greenloop.verdict.case_runs import Files
from greenloop_sandbox import payload

NO_GAIN = "NoGain"
MUTATION_SECONDS = 10.0  # for all one-token changes of the regions that were chosen first, on a quiet machine
SUSPECTS_SECONDS = 20.0  # for those of all other suspects: equal shares, with what others left over
MERGE_SECONDS = 5.0  # wall time for all merges with one attempt
MERGES_SECONDS = 30.0  # seconds of runs for all merges of a run
LEAST_CHANGES = 12  # of the regions that were chosen first, however slow their tests are
MOST_PASSING = 3  # with more passing changes, the first is as likely wrong as right

Verify = Callable[[Files], Awaitable[Verdict]]


async def attempt_without_model(
    problem: Problem,
    draft: Draft,
    attempts: Sequence[Attempt],
    verify: Verify,
    seconds_left: float,
    *,
    is_enough: Callable[[], bool] = lambda: False,
    most_passing: int = MOST_PASSING,
) -> Attempt:
    """Returns the attempt of a draft that no model is asked for, numbered after the others.

    It tries no more as soon as it `is_enough`.
    """
    if draft.move is Move.MERGE:
        return await best_merge(problem, len(attempts), draft, attempts, verify, seconds_left)
    problem = problem.focused(draft.regions)
    return await best_mutant(
        problem, len(attempts), draft, attempts, verify, seconds_left, is_enough=is_enough, most_passing=most_passing
    )


async def best_mutant(
    problem: Problem,
    number: int,
    draft: Draft,
    attempts: Sequence[Attempt],
    verify: Verify,
    seconds_left: float = math.inf,
    *,
    is_enough: Callable[[], bool] = lambda: False,
    most_passing: int = MOST_PASSING,
    load: Callable[[], float] = lambda: payload.protocol().load(),
) -> Attempt:
    """Tests the one-token changes of the parent's code; returns the best, or a finding if none passes more tests.

    Takes at most `seconds_left`, and the time of one change, and ends as soon as it `is_enough`; its own limit is
    longer with many processes for a processor (`load`) or few tries. If the code passes
    with the imports that it lacks, it is taken as it is; a corrected value of a data file comes next. If more than
    `most_passing` changes of a stage pass, the tests are too weak to choose, and none is taken.
    """
    parent = attempts[draft.parent]
    limit = min(_mutation_seconds(problem, draft, attempts) * load(), seconds_left)
    if (completed := with_missing_imports(problem, parent)) is not None:
        trial = await _try_all(problem, [completed], parent, verify, limit=limit)
        if trial.passing:
            return _finish(_blank(number, draft, "missing imports", trial), trial, "")
    if corrected := () if draft.regions or draft.parent else corrected_data(problem):
        trial = await _try_all(problem, corrected, parent, verify, limit=limit, most_passing=most_passing)
        if trial.passing:
            return _finish(_blank(number, draft, "a value of a data file", trial), trial, "")
    trial = _Trial()
    for stage in Stage:
        left, candidates = limit - trial.took, mutants(problem, parent, stage)
        wanted = takewhile(lambda _candidate: not is_enough(), candidates)
        least = 0 if draft.regions else LEAST_CHANGES - trial.tried
        more = await _try_all(problem, wanted, parent, verify, left, least, seconds_left - trial.took, most_passing)
        trial = trial.followed_by(more)
        if trial.passing:
            break
    blank = _blank(number, draft, "one-token changes", trial)
    if trial.passing > most_passing:
        edits = "one one-token edit passes" if most_passing == 1 else f"{most_passing} one-token edits pass"
        message = f"More than {edits}: the tests are too weak to choose one."
        return with_finding(blank, Finding(error_class=NO_GAIN, message=message))
    return _finish(blank, trial, f"None of {trial.tried} one-token edits passes more tests.")


async def best_merge(
    problem: Problem,
    number: int,
    draft: Draft,
    attempts: Sequence[Attempt],
    verify: Verify,
    seconds_left: float = math.inf,
) -> Attempt:
    """Tests the parent's changes together with those of each of the `others`; returns as `best_mutant` does."""
    parent = attempts[draft.parent]
    candidates = _new_merges(problem, draft, attempts)
    earlier = [each for each in attempts if each.draft and each.draft.move is Move.MERGE]
    left = MERGES_SECONDS - sum(each.verdict.seconds for each in earlier)
    trial = await _try_all(problem, candidates, parent, verify, limit=min(MERGE_SECONDS, left, seconds_left))
    message = f"None of {trial.tried} combinations of answers passes more tests."
    return _finish(_blank(number, draft, "combined answers", trial), trial, message)


def _new_merges(problem: Problem, draft: Draft, attempts: Sequence[Attempt]) -> Iterator[Candidate]:
    """The merges of a draft that have not been tried."""
    parent = attempts[draft.parent]
    for other in (attempts[number] for number in draft.others):
        if parent.candidate is not None and other.candidate is not None:
            has_base = parent.parent is not None and parent.parent == other.parent
            base = attempts[parent.parent or 0].candidate if has_base else None
            merged = merge(parent.candidate, other.candidate, base)
            if merged is not None and not find_duplicate(problem, merged, attempts):
                yield merged


@dataclass(kw_only=True)
class _Trial:
    """Results of one attempt's candidates; `seconds` are those of their runs, `took` is the wall time."""

    best: tuple[Candidate, Verdict] | None = None
    tried: int = 0
    passing: int = 0
    seconds: float = 0.0
    took: float = 0.0

    def followed_by(self, other: _Trial) -> _Trial:
        best = other.best
        if best is None or (self.best is not None and not _is_better(best[1], self.best[1])):
            best = self.best
        return _Trial(
            best=best,
            tried=self.tried + other.tried,
            passing=self.passing + other.passing,
            seconds=self.seconds + other.seconds,
            took=self.took + other.took,
        )


async def _try_all(
    problem: Problem,
    candidates: Iterable[Candidate],
    parent: Attempt,
    verify: Verify,
    limit: float,
    least: int = 0,
    seconds_left: float = 0.0,
    most_passing: int = 0,
) -> _Trial:
    """Tests candidates until one too many passes or the time is over: `limit`, or `seconds_left` for the `least`."""
    trial, began = _Trial(), monotonic()
    for candidate in candidates:
        files, most = compose(problem, candidate), limit if trial.tried >= least else seconds_left
        if monotonic() - began > most or trial.passing > most_passing:
            break
        verdict = await verify(files)
        trial.tried += 1
        trial.seconds += verdict.seconds
        passed = verdict.status is Status.PASSED
        is_better = _is_better(verdict, trial.best[1] if trial.best else parent.verdict)
        # The gate reads whole files, which would take as long as the tests: only what may be taken passes it.
        if not (is_better or passed) or check(problem, candidate, files, parent=parent.candidate):
            continue
        if is_better or not trial.passing:
            trial.best = candidate, verdict
        trial.passing += passed
    trial.took = monotonic() - began
    return trial


def _is_better(verdict: Verdict, best: Verdict) -> bool:
    """True if more target cases pass, or as many while fewer other tests of the file stay red."""
    fewer_red = best.status is Status.PASSED and len(verdict.still_red) < len(best.still_red)
    return verdict.score > best.score or (verdict.status is Status.PASSED and fewer_red)


def _blank(number: int, draft: Draft, maker: str, trial: _Trial) -> Attempt:
    return Attempt(
        number=number,
        parent=draft.parent,
        draft=draft,
        model=maker,
        verdict=Verdict(status=Status.REFUSED, seconds=trial.seconds),
        notes=(FeedbackNote(text="", fields={"tried": trial.tried}),),
    )


def _finish(blank: Attempt, trial: _Trial, no_gain: str) -> Attempt:
    if trial.best is None:
        return with_finding(blank, Finding(error_class=NO_GAIN, message=no_gain))
    candidate, verdict = trial.best
    return with_verdict(replace(blank, candidate=candidate), replace(verdict, seconds=trial.seconds))


def _mutation_seconds(problem: Problem, draft: Draft, attempts: Sequence[Attempt]) -> float:
    """Seconds for the one-token changes of a draft: its share of what earlier ones of the run left over."""
    earlier = [each for each in attempts if each.draft and each.draft.move is Move.MUTATE]
    waiting = len(problem.suspects) - len({each.draft.regions for each in earlier if each.draft and each.draft.regions})
    if not draft.regions:
        return MUTATION_SECONDS
    left = MUTATION_SECONDS + SUSPECTS_SECONDS - sum(each.verdict.seconds for each in earlier)
    return max(SUSPECTS_SECONDS / max(1, len(problem.suspects)), left / max(1, waiting))
