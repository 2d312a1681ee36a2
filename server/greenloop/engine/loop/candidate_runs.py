"""Runs the candidates of a round: all as they came, or in a ranker's order up to the first that passes.

It must not know whether a candidate that passes is accepted.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from greenloop.core.classify import classify, finding_group
from greenloop.core.compose import compose, only_needed, region_text
from greenloop.core.election import CHEAP
from greenloop.core.events import Checked, Event
from greenloop.core.fingerprint import is_same_code
from greenloop.core.python.stubs import is_unwritten
from greenloop.core.records.attempt import Attempt, Candidate, Draft, Finding, Move
from greenloop.core.records.model import Reply
from greenloop.core.records.problem import Problem
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.run_state import RunState
from greenloop.drafting import infill
from greenloop.drafting.candidates.answers import parse_answer
from greenloop.drafting.candidates.answers.imports_and_helpers import add_missing_imports
from greenloop.drafting.candidates.changes.change import lay_over
from greenloop.drafting.candidates.checks.gate import (
    UNCHANGED,
    check,
    check_edit,
    find_repetition,
    without_faulty_functions,
)
from greenloop.engine.loop.parts import Parts
from greenloop.verdict.case_runs import Files


@dataclass(kw_only=True)
class CandidateRuns:
    """The runs of a loop, round by round.

    `tested` are attempts of the round in progress that have their verdict; they remain if the time ends it.
    `waiting` are numbers of ranked attempts that run, in this order, only if none before is accepted. `wider` has, by
    the number of its attempt, the candidate with all that an answer changes, of those that the gate lets run.
    """

    state: RunState
    parts: Parts
    tested: list[Attempt] = field(default_factory=list)
    waiting: list[int] = field(default_factory=list)
    wider: dict[int, Candidate] = field(default_factory=dict)

    async def run(self, proposed: Sequence[Proposal]) -> None:
        """Tests every candidate that passed the gate; ranked ones only up to the first that passes."""
        attempts = [each.attempt for each in proposed]
        self.wider = {each.attempt.number: each.wider for each in proposed if each.wider}
        candidates = [attempt for attempt in attempts if is_waiting(attempt)]
        ranked = await self.parts.rank(self.state.problem, self.state.attempts, candidates)
        if ranked:
            changed = {attempt.number: attempt for attempt in ranked}
            self.tested = [changed.get(attempt.number, attempt) for attempt in attempts]
            self.waiting = [attempt.number for attempt in ranked]
            await self.run_waiting(self.tested)
            return
        for attempt in attempts:
            self.tested.append(await self._test(attempt) if is_waiting(attempt) else attempt)

    async def run_waiting(self, attempts: list[Attempt]) -> None:
        """Tests waiting attempts, which these contain, until one passes."""
        first = attempts[0].number
        while self.waiting:
            number = self.waiting.pop(0)
            attempt = attempts[number - first] = await self._test(attempts[number - first])
            if attempt.verdict.status is Status.PASSED:
                break

    async def _test(self, attempt: Attempt) -> Attempt:
        assert attempt.candidate is not None
        verify = self.parts.glance if is_cheap(attempt) else self.parts.verify
        attempt = with_verdict(attempt, await verify(compose(self.state.problem, attempt.candidate)))
        if attempt.verdict.status is not Status.PASSED:
            attempt = await self._test_widely(attempt)
        if attempt.verdict.status is not Status.PASSED:
            return attempt
        return await without_needless(self.state.problem, attempt, self.parts.glance, verify)

    async def _test_widely(self, attempt: Attempt) -> Attempt:
        """Returns the attempt with all that its answer changes, where more tests pass with it."""
        if (wider := self.wider.get(attempt.number)) is None:
            return attempt
        files = compose(self.state.problem, wider)
        if (await self.parts.glance(files)).passed <= attempt.verdict.passed:
            return attempt
        verdict = await self.parts.verify(files)
        is_better = verdict.passed > attempt.verdict.passed
        return with_verdict(replace(attempt, candidate=wider), verdict) if is_better else attempt


Run = Callable[[Files], Awaitable[Verdict]]


async def without_needless(problem: Problem, attempt: Attempt, glance: Run, verify: Run) -> Attempt:
    """Returns an attempt that passes without its changes of functions and assignments that the tests pass without.

    The least suspicious go first. What was not written before stays, as its tests may be still to come, and so does
    everything where the user asked for more than the tests, or for less time.
    """
    candidate = attempt.candidate
    if attempt.draft is not None and attempt.draft.move is Move.TURN:  # what a capable model changes too has a reason
        return attempt
    if (
        candidate is None
        or problem.instruction
        or problem.spec.open
        or any("ratio" in each for each in attempt.verdict.data.values())
    ):
        return attempt
    order = {region: place for place, region in enumerate((*problem.regions, *problem.suspects))}
    for region in sorted(candidate.texts, key=lambda each: -order.get(each, len(order))):
        if len(candidate.texts) == 1 or region.created or is_unwritten(region_text(problem, region)):
            continue
        kept = {each: text for each, text in candidate.texts.items() if each != region}
        smaller = only_needed(replace(candidate, texts=kept))
        files = compose(problem, smaller)
        # The short run is often the last, since most of what an answer changes is needed.
        if (await glance(files)).status is not Status.PASSED:
            continue
        verdict = await verify(files)
        if verdict.status is Status.PASSED and {*verdict.still_red} <= {*attempt.verdict.still_red}:
            attempt = with_verdict(replace(attempt, candidate=smaller), verdict)
            candidate = smaller
    return attempt


# -- before a run -----------------------------------------------------------------------------------------------------


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
        draft, files = attempt.draft, compose(problem, candidate)
        if draft.move is Move.TURN:
            finding = check_edit(problem, candidate, files)
        else:
            finding = check(problem, candidate, files, parent=attempts[draft.parent].candidate)
            if finding and not draft.regions and (kept := without_faulty_functions(problem, candidate)):
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


def check_wider(problem: Problem, attempt: Attempt, wider: Candidate | None) -> Candidate | None:
    """Returns the candidate with all that an answer changes, where it differs from the attempt's and may run."""
    if wider is None or attempt.draft is None or not is_waiting(attempt):
        return None
    wider = add_missing_imports(problem, wider)
    if is_same_code(problem, wider, attempt.candidate):
        return None
    refused = check(problem.focused(attempt.draft.regions), wider, compose(problem, wider))
    return None if refused else wider


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
