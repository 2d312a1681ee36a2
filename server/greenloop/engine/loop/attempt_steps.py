"""Steps of an attempt before its run: reads the answer, checks the candidate.

An answer that cannot be read or must not be run is an attempt too, with a finding instead of a verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from greenloop.core.classify import classify, finding_group
from greenloop.core.compose import compose
from greenloop.core.election import CHEAP
from greenloop.core.events import Checked, Event
from greenloop.core.fingerprint import is_same_code
from greenloop.core.records.attempt import Attempt, Candidate, Draft, Finding, Move
from greenloop.core.records.model import Reply
from greenloop.core.records.problem import Problem
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.run_state import RunState
from greenloop.drafting import infill
from greenloop.drafting.candidates.answers import parse_answer
from greenloop.drafting.candidates.changes.merge import lay_over
from greenloop.drafting.candidates.changes.missing_imports import add_missing_imports
from greenloop.drafting.candidates.checks.gate import (
    UNCHANGED,
    check,
    check_edit,
    find_repetition,
    without_faulty_functions,
)

Files = Mapping[str, str]

REPEATED = "Repeated"
NOT_RUN = "NotRun"  # of a candidate that could be run another time
COPIED = "The answer repeated the user's code beyond its suspicious lines and was stopped."


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
        truncated, whole = reply.finish == "length", not draft.regions
        reading = parse_answer.read(reply.text, problem, truncated=truncated, base=base, whole=whole)
        if isinstance(reading, Candidate) and draft.regions and (below := attempts[draft.parent].candidate):
            reading = lay_over(below, reading)
    else:
        text = (reply.text, *reply.others)[min(draft.choice, len(reply.others))]
        reading = infill.fill_mask(problem, attempts[draft.parent], draft.masked, text)
        blank = replace(blank, answer=text)
    if isinstance(reading, Candidate):  # what repeats itself is asked for again, like an unreadable answer
        reading = find_repetition(problem, reading) or add_missing_imports(problem, reading)
    return with_finding(blank, reading) if isinstance(reading, Finding) else replace(blank, candidate=reading)


def read_widely(state: RunState, attempt: Attempt) -> Candidate | None:
    """The candidate with all that the attempt's answer changes, if that is more than its regions, and may be run.

    A small model repeats other code with mistakes, so this is for an answer that does not pass without it.
    """
    draft = attempt.draft
    is_asked = draft is not None and draft.masked is None and draft.move is not Move.TURN and bool(attempt.answer)
    if draft is None or not is_asked or attempt.candidate is None or state.problem.exact:
        return None
    problem = state.problem.focused(draft.regions)
    base = state.attempts[draft.parent].candidate if draft.move is Move.REFINE else None
    reading = parse_answer.read(attempt.answer, problem, base=base, wide=True)
    if isinstance(reading, Finding):
        return None
    if draft.regions and (below := state.attempts[draft.parent].candidate):
        reading = lay_over(below, reading)
    reading = add_missing_imports(problem, reading)
    is_same = is_same_code(state.problem, reading, attempt.candidate)
    return None if is_same or check(problem, reading, compose(state.problem, reading)) else reading


def check_candidate(
    problem: Problem, attempt: Attempt, attempts: Sequence[Attempt], emit: Callable[[Event], None]
) -> Attempt:
    """Passes the attempt through the gate; a candidate that repeats an earlier one gets a finding and is not run."""
    candidate = attempt.candidate
    finding = attempt.finding
    if candidate is not None and attempt.draft is not None:
        finding = _check(problem, candidate, attempt.draft, attempts)
        is_turn = attempt.draft.move is Move.TURN
        if (
            finding
            and not is_turn
            and not attempt.draft.regions
            and (kept := without_faulty_functions(problem, candidate))
        ):
            attempt, candidate, finding = replace(attempt, candidate=kept), kept, None
        if finding is None and (duplicate := find_duplicate(problem, candidate, attempts)):
            finding = Finding(error_class=REPEATED, message=f"The answer repeats attempt {duplicate.number}.")
    emit(
        Checked(
            attempt=attempt.number,
            error_class=finding.error_class if finding else "",
            message=finding.message if finding else "",
        )
    )
    return with_finding(attempt, finding) if finding else attempt


def _check(problem: Problem, candidate: Candidate, draft: Draft, attempts: Sequence[Attempt]) -> Finding | None:
    files = compose(problem, candidate)
    if draft.move is Move.TURN:
        return check_edit(problem, candidate, files)
    return check(problem, candidate, files, parent=attempts[draft.parent].candidate)


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


def find_duplicate(problem: Problem, candidate: Candidate, attempts: Sequence[Attempt]) -> Attempt | None:
    """The earlier attempt whose code means the same, or None."""
    return next(
        (
            earlier
            for earlier in attempts
            if earlier.candidate
            and earlier.error_class != NOT_RUN
            and is_same_code(problem, candidate, earlier.candidate)
        ),
        None,
    )


def problem_of(problem: Problem, attempt: Attempt) -> Problem:
    """Returns the problem with the regions that the attempt changes, or was to change."""
    changed = tuple(each for each in attempt.candidate.texts if not each.imports) if attempt.candidate else ()
    if attempt.draft is None or {*changed} <= {*problem.focused(attempt.draft.regions).regions}:
        changed = attempt.draft.regions if attempt.draft else ()
    return problem.focused(changed)


def is_cheap(attempt: Attempt) -> bool:
    """Is it one of many small ones, which are run shortly and described only where another is built on them?"""
    return attempt.draft is not None and attempt.draft.move in CHEAP
