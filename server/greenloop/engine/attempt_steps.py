"""Steps of an attempt before its run: reads the answer, checks the candidate, tries one-token changes.

An answer that cannot be read or must not be run is an attempt too, with a finding instead of a verdict.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from time import monotonic

from greenloop.core.classify import classify, finding_group
from greenloop.core.compose import compose
from greenloop.core.events import Checked, Event
from greenloop.core.fingerprint import is_same_code
from greenloop.core.records.attempt import Attempt, Candidate, Draft, FeedbackNote, Finding, Move
from greenloop.core.records.model import Reply
from greenloop.core.records.problem import Problem
from greenloop.core.records.verdict import Status, Verdict
from greenloop.drafting import infill
from greenloop.drafting.candidates import parse_answer
from greenloop.drafting.candidates.gate import UNCHANGED, check, find_repetition
from greenloop.drafting.candidates.mutate import mutants

Files = Mapping[str, str]

REPEATED = "Repeated"
NO_GAIN = "NoGain"
COPIED = "The answer repeated the user's code beyond its suspicious lines and was stopped."
MUTATION_SECONDS = 10.0  # wall time for all one-token changes of the regions that were chosen first
SUSPECTS_SECONDS = 20.0  # wall time for those of all other suspects: equal shares, with what others left over
MOST_PASSING = 3  # with more passing changes, the first is as likely wrong as right


def read_answer(problem: Problem, number: int, draft: Draft, attempts: Sequence[Attempt], reply: Reply) -> Attempt:
    """Reads a reply into an attempt with its candidate, or with the finding that explains why there is none."""
    blank = Attempt(
        number=number,
        parent=draft.parent,
        draft=draft,
        model=reply.model,
        answer=reply.text,
        usage=reply.usage,
        verdict=Verdict(status=Status.REFUSED),
    )
    if reply.finish == "copy":
        return with_finding(blank, Finding(error_class=UNCHANGED, message=COPIED))
    reading: Candidate | Finding
    if draft.masked is None:
        base = attempts[draft.parent].candidate if draft.move is Move.REFINE else None
        reading = parse_answer.read(reply.text, problem, truncated=reply.finish == "length", base=base)
    else:
        text = (reply.text, *reply.others)[min(draft.choice, len(reply.others))]
        reading = infill.fill_mask(problem, attempts[draft.parent], draft.masked, text)
        blank = replace(blank, answer=text)
    if isinstance(reading, Candidate):
        reading = find_repetition(problem, reading) or reading  # asked for again, like an unreadable answer
    return with_finding(blank, reading) if isinstance(reading, Finding) else replace(blank, candidate=reading)


def check_candidate(
    problem: Problem, attempt: Attempt, attempts: Sequence[Attempt], emit: Callable[[Event], None]
) -> Attempt:
    """Passes the attempt through the gate; a candidate that repeats an earlier one gets a finding and is not run."""
    candidate = attempt.candidate
    finding = attempt.finding
    if candidate is not None and attempt.draft is not None:
        parent = attempts[attempt.draft.parent].candidate
        finding = check(problem, candidate, compose(problem, candidate), parent=parent)
        if finding is None and (duplicate := _find_duplicate(problem, candidate, attempts)):
            finding = Finding(error_class=REPEATED, message=f"The answer repeats attempt {duplicate.number}.")
    emit(
        Checked(
            attempt=attempt.number,
            error_class=finding.error_class if finding else "",
            message=finding.message if finding else "",
        )
    )
    return with_finding(attempt, finding) if finding else attempt


def with_finding(attempt: Attempt, finding: Finding) -> Attempt:
    verdict = replace(attempt.verdict, reason=finding.message)
    return replace(
        attempt, verdict=verdict, finding=finding, error_class=finding.error_class, group=finding_group(finding)
    )


def with_verdict(attempt: Attempt, verdict: Verdict) -> Attempt:
    """Adds the verdict of an execution to the attempt; test time accumulates."""
    error_class, group = classify(verdict)
    seconds = attempt.usage.test_seconds + verdict.seconds
    usage = replace(attempt.usage, test_seconds=seconds)
    return replace(attempt, verdict=verdict, error_class=error_class, group=group, usage=usage)


def _find_duplicate(problem: Problem, candidate: Candidate, attempts: Sequence[Attempt]) -> Attempt | None:
    return next(
        (earlier for earlier in attempts if earlier.candidate and is_same_code(problem, candidate, earlier.candidate)),
        None,
    )


def _mutation_seconds(problem: Problem, draft: Draft, attempts: Sequence[Attempt]) -> float:
    """The wall time for the one-token changes of a draft: its share of what earlier ones of the run left over."""
    earlier = [each for each in attempts if each.draft and each.draft.move is Move.MUTATE]
    waiting = len(problem.suspects) - len({each.draft.regions for each in earlier if each.draft and each.draft.regions})
    if not draft.regions:
        return MUTATION_SECONDS
    left = MUTATION_SECONDS + SUSPECTS_SECONDS - sum(each.verdict.seconds for each in earlier)
    return max(SUSPECTS_SECONDS / max(1, len(problem.suspects)), left / max(1, waiting))


async def best_mutant(
    problem: Problem,
    number: int,
    draft: Draft,
    attempts: Sequence[Attempt],
    verify: Callable[[Files], Awaitable[Verdict]],
    seconds_left: float = math.inf,
) -> Attempt:
    """Tests the one-token changes of the parent's code; returns the best, or a finding if none passes more tests.

    Takes at most `seconds_left`, and the time of one change.

    If more than `MOST_PASSING` of them pass, the tests are too weak to choose, and none is taken.
    """
    parent = attempts[draft.parent]
    began, tried, seconds = monotonic(), 0, 0.0
    limit = min(_mutation_seconds(problem, draft, attempts), seconds_left)
    best: tuple[Candidate, Verdict] | None = None
    passing = 0
    for candidate in mutants(problem, parent):
        files = compose(problem, candidate)
        if monotonic() - began > limit or passing > MOST_PASSING:
            break
        verdict = await verify(files)
        tried += 1
        seconds += verdict.seconds
        passed = verdict.status is Status.PASSED
        is_better = verdict.score > (best[1] if best else parent.verdict).score
        # The gate reads whole files, which would take as long as the tests: only what may be taken passes it.
        if not (is_better or passed) or check(problem, candidate, files, parent=parent.candidate):
            continue
        if is_better or not passing:
            best = candidate, verdict
        passing += passed
    blank = Attempt(
        number=number,
        parent=draft.parent,
        draft=draft,
        model="one-token changes",
        verdict=Verdict(status=Status.REFUSED, seconds=seconds),
        notes=(FeedbackNote(text="", fields={"tried": tried}),),
    )
    if best is None:
        message = f"None of {tried} one-token edits passes more tests."
        return with_finding(blank, Finding(error_class=NO_GAIN, message=message))
    if passing > MOST_PASSING:
        message = f"More than {MOST_PASSING} one-token edits pass: the tests are too weak to choose one."
        return with_finding(blank, Finding(error_class=NO_GAIN, message=message))
    return with_verdict(replace(blank, candidate=best[0]), replace(best[1], seconds=seconds))
