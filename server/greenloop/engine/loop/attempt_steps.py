"""Steps of an attempt before its run: reads the answer, checks the candidate.

An answer that cannot be read or must not be run is an attempt too, with a finding instead of a verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from greenloop.core.classify import classify, finding_group
from greenloop.core.compose import compose
from greenloop.core.election import CHEAP
from greenloop.core.events import Checked, Event
from greenloop.core.fingerprint import is_same_code
from greenloop.core.records.attempt import Attempt, Candidate, Draft, Finding, Move
from greenloop.core.records.model import Reply
from greenloop.core.records.problem import Problem
from greenloop.core.records.verdict import Status, Verdict
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


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """An attempt before its run, and what its answer changes beyond what was asked for (None: nothing).

    A small model repeats other code with mistakes, so `wider` is for an answer that does not pass without it.
    """

    attempt: Attempt
    wider: Candidate | None = None

    def with_fields(self, **values: Any) -> Proposal:
        """Returns the proposal with these fields of its attempt."""
        return replace(self, attempt=replace(self.attempt, **values))


def read_answer(problem: Problem, number: int, draft: Draft, attempts: Sequence[Attempt], reply: Reply) -> Proposal:
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
        return Proposal(attempt=with_finding(blank, Finding(error_class=UNCHANGED, message=COPIED)))
    below = attempts[draft.parent].candidate
    readings: list[Candidate | Finding]
    if draft.masked is None:
        base, is_cut = below if draft.move is Move.REFINE else None, reply.finish == "length"
        readings = parse_answer.read_all(reply.text, problem, truncated=is_cut, base=base, whole=not draft.regions)
        if draft.regions and below:
            readings = [lay_over(below, each) if isinstance(each, Candidate) else each for each in readings]
    else:
        text = (reply.text, *reply.others)[min(draft.choice, len(reply.others))]
        readings = [infill.fill_mask(problem, attempts[draft.parent], draft.masked, text)]
        blank = replace(blank, answer=text)
    first, *others = readings
    if isinstance(first, Candidate):  # what repeats itself is asked for again, like an unreadable answer
        first = find_repetition(problem, first) or add_missing_imports(problem, first)
    if isinstance(first, Finding):
        return Proposal(attempt=with_finding(blank, first))
    wider = next((each for each in others if isinstance(each, Candidate)), None)
    return Proposal(attempt=replace(blank, candidate=first), wider=wider)


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


def is_waiting(attempt: Attempt) -> bool:
    """Has it a candidate that is still to be run?"""
    return attempt.candidate is not None and attempt.finding is None and attempt.verdict.status is Status.REFUSED


def give_up(attempt: Attempt) -> Attempt:
    """The attempt, with why its candidate was not run where it was not."""
    message = "Was not run: another candidate passed first, or the time was over."
    return with_finding(attempt, Finding(error_class=NOT_RUN, message=message)) if is_waiting(attempt) else attempt
