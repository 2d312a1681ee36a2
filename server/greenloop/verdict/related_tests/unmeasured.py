"""Runs the related tests whose turn comes after a result is offered; those that fail, over the user's code as well.

Many of them run in several sandboxes at once. It must not know where candidates come from.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from time import monotonic

from greenloop.core.deadline import gather_or_cancel
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.verification_inputs import VerificationInputs, check_sandbox
from greenloop.project.environment import cgroups
from greenloop.verdict.related_tests.own_code import own_run, run_alone, select, select_tolerantly
from greenloop.verdict.related_tests.related import fail_for_related, is_out_of_time
from greenloop_sandbox import CaseResult, Execution, Session, TestRun, case_results, forged
from greenloop_sandbox.report.cases import collect_errors, records_of_kind

FIRST = 4  # tests or files of the first portion: the nearest come first, and what is broken mostly shows in them
GROWTH = 4  # times as many in the next one, at most
SHARE = 2  # of what waits, each sandbox takes this part of its equal share, so that all end at about the same time
SECONDS = 3.0  # of a portion, where so many tests wait: each starts pytest anew
LONGEST_PORTION = 9.0  # seconds that a portion is expected to take, so that there is news of it
WORTHWHILE = 1.0  # seconds that the rest is expected to take, for which another sandbox is opened
SIDE_BY_SIDE = 4  # sandboxes at most, one for each processor
RESERVE = 10.0  # seconds of the run's time that are left alone
DONE = frozenset({"passed", "skipped", "xfailed", "xpassed"})


async def run_unmeasured(
    inputs: VerificationInputs,
    session: Session,
    verdict: Verdict,
    files: Mapping[str, str],
    *,
    open_session: Callable[[], Awaitable[Session]],
    spent: float,
    left: float,
    usual: float = 0.0,
    report: Callable[[int, int], None] = lambda _done, _all: None,
) -> Verdict:
    """Returns the verdict after these tests: failed with the first portion in which one fails because of the candidate.

    Of files that the baseline had no time to collect, all cases are run. `spent`: seconds that the target and the other
    related tests took, which share their time with these; `left`: seconds that are left of the run's time; `usual`:
    seconds that one of them is known to take (0: not known). `report` gets how many have ended, and of how many.
    """
    cases = inputs.unmeasured
    if not cases or verdict.status is not Status.PASSED:
        return verdict
    time = _Time(usual=inputs.suite_seconds - spent, most=left - RESERVE, began=monotonic())
    if inputs.own is None or time.left(0, len(cases)) <= 0:
        return replace(verdict, related=verdict.related.without(len(cases), late=True))
    run = replace(inputs.test_run(files), case_seconds=inputs.limits.seconds)
    tests = _UnmeasuredTests(
        inputs=inputs,
        sessions=[session],
        open_session=open_session,
        candidate=run,
        time=time,
        usual=usual,
        report=report,
        waiting=cases,
    )
    try:
        return await tests.run(verdict)
    finally:
        for each in tests.sessions[1:]:
            await asyncio.shield(each.close())


@dataclass(frozen=True, kw_only=True)
class _Time:
    """Seconds that these tests may take: the `usual` ones, or the `most` where that is expected to suffice."""

    usual: float
    most: float
    began: float

    def left(self, ended: int, waiting: int) -> float:
        """Seconds for the next run, after so many tests have ended; 0 or less where it should not begin."""
        taken = monotonic() - self.began
        suffices = ended > 0 and taken + waiting * taken / ended < self.most
        return (self.most if suffices else min(self.usual, self.most)) - taken


class _RefutedError(Exception):
    """A test fails because of the candidate, or a report was forged: the other sandboxes need not go on."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__()
        self.verdict = verdict


@dataclass(kw_only=True)
class _UnmeasuredTests:
    """Tests that are run in portions.

    `waiting` are those that no run has shown yet, `lost` those that none will; `busy`: seconds of all sandboxes.
    """

    inputs: VerificationInputs
    sessions: list[Session]
    open_session: Callable[[], Awaitable[Session]]
    candidate: TestRun
    time: _Time
    usual: float
    report: Callable[[int, int], None]
    waiting: tuple[str, ...]
    lost: tuple[str, ...] = ()
    portions: int = 0
    running: int = 0
    busy: float = 0.0
    passed: int = 0
    failed_before: int = 0
    flaky: list[str] = field(default_factory=list)

    async def run(self, verdict: Verdict) -> Verdict:
        began = monotonic()
        try:
            if not self.usual:
                await self._run_portion(self.sessions[0], verdict)
            if len(self.waiting) * self._seconds_each() > WORTHWHILE:
                await self._open_more()
            await gather_or_cancel([self._run_portions(session, verdict) for session in self.sessions])
        except _RefutedError as error:
            return replace(error.verdict, seconds=verdict.seconds + monotonic() - began)
        left_out = len(self.waiting) + len(self.lost)
        return replace(
            verdict,
            seconds=verdict.seconds + monotonic() - began,
            flaky=(*verdict.flaky, *self.flaky),
            related=replace(
                verdict.related.without(left_out, late=True),
                late_passes=self.passed + len(self.flaky),
                late_failures=self.failed_before,
            ),
        )

    async def _open_more(self) -> None:
        while len(self.sessions) < min(SIDE_BY_SIDE, cgroups.processor_count()):
            self.sessions.append(await self.open_session())

    async def _run_portions(self, session: Session, verdict: Verdict) -> None:
        """Runs portions until none is left or the time is over. Raises `_RefutedError`."""
        while self.waiting and self._seconds_left() >= self._seconds_each():
            await self._run_portion(session, verdict)
            self.report(self._ended, self._ended + len(self.waiting) + len(self.lost) + self.running)

    async def _run_portion(self, session: Session, verdict: Verdict) -> None:
        """Runs the next portion and takes in what it shows. Raises `_RefutedError`."""
        size = self._portion_size()
        self.portions += 1
        portion, self.waiting = self.waiting[:size], self.waiting[size:]
        self.running += len(portion)
        began = monotonic()
        execution = await session.run(replace(select_tolerantly(self.candidate, portion), seconds=self._seconds_left()))
        self.busy += monotonic() - began
        self.running -= len(portion)
        check_sandbox(execution)
        if forgery := forged(execution):
            raise _RefutedError(replace(verdict, status=Status.TAMPERED, reason=forgery))
        if broken := await self._broken(session, self._take_in(portion, execution)):
            raise _RefutedError(fail_for_related(verdict, broken))

    def _portion_size(self) -> int:
        if self.portions == 0 and not self.usual:
            return FIRST
        is_known = self._ended or self.usual
        worthwhile = ceil(SECONDS / self._seconds_each()) if is_known else FIRST
        equal = len(self.waiting) // (SHARE * len(self.sessions))
        most: int = FIRST * GROWTH**self.portions
        longest = ceil(LONGEST_PORTION / self._seconds_each()) if is_known else most
        return max(worthwhile, min(most, equal, longest))

    @property
    def _ended(self) -> int:
        return self.passed + self.failed_before + len(self.flaky)

    def _seconds_each(self) -> float:
        """Seconds that a test has taken on average, the start of pytest included."""
        return max(self.busy, 1e-3) / self._ended if self._ended else self.usual or 1e-3

    def _seconds_left(self) -> float:
        return self.time.left(self._ended, len(self.waiting) + self.running)

    def _take_in(self, portion: Sequence[str], execution: Execution) -> dict[str, CaseResult]:
        """Returns the results of the tests that ended; behind one that ends a run, the others wait again."""
        results = _results_by_id(execution)
        known = _finished(results, execution, self.candidate.case_seconds)
        cases = _with_cases_of_files(portion, results)
        if not execution.killed:  # a file that shows nothing has no tests
            cases = tuple(case for case in cases if case in results or "::" in case)
        rest = tuple(case for case in cases if case not in known)
        has_ended_early = bool(execution.killed) or not list(records_of_kind(execution, "finished"))
        if known and has_ended_early:
            self.waiting = (*rest, *self.waiting)
        else:
            self.lost += rest
        return {case: known[case] for case in cases if case in known}

    async def _broken(self, session: Session, results: Mapping[str, CaseResult]) -> list[CaseResult]:
        """Returns those that fail with the candidate each time and pass with the user's code; counts the others."""
        failed = [case for case, result in results.items() if result.outcome in {"failed", "error"}]
        self.passed += sum(result.outcome in DONE for result in results.values())
        self.lost += tuple(case for case in results if results[case].outcome not in DONE and case not in failed)
        own = await self._run_own(session, failed)
        for case in failed:
            if case not in own or own[case].outcome == "missing":
                self.lost += (case,)
            elif own[case].passed:
                self.flaky.append(case)
            else:
                self.failed_before += 1
        broken = [results[case] for case in failed if case in own and own[case].passed]
        if broken:
            repeat = _results_by_id(await session.run(select(self.candidate, [each.id for each in broken])))
            broken = [each for each in broken if each.id not in repeat or not repeat[each.id].passed]
        return broken

    async def _run_own(self, session: Session, cases: Sequence[str]) -> dict[str, CaseResult]:
        """Runs these cases with the user's own code, together; the first of those that do not end so, each alone."""
        if not cases:
            return {}
        seconds = max(self.inputs.limits.seconds, self._seconds_left())
        run = replace(select_tolerantly(self.candidate, cases), seconds=seconds)
        execution = await session.run(own_run(self.inputs, run))
        check_sandbox(execution)
        found = {} if forged(execution) else _results_by_id(execution)
        ended = {
            case: found[case] for case in _finished(found, execution, self.candidate.case_seconds) if case in cases
        }
        if not execution.killed:  # a file without an error is one that can be collected
            files = [case for case in cases if "::" not in case and case not in found]
            ended |= {file: CaseResult(id=file, outcome="passed") for file in files}
        waiting = [case for case in cases if case not in ended]
        return {**await run_alone(self.inputs, session, waiting, self.candidate.hash_seed), **ended}


def _finished(results: Mapping[str, CaseResult], execution: Execution, case_seconds: float) -> dict[str, CaseResult]:
    """Returns the results without those of cases that the end of all time kept from running, or cut."""
    return {
        case: result
        for case, result in results.items()
        if result.outcome != "missing" and not is_out_of_time(result, execution, case_seconds)
    }


def _results_by_id(execution: Execution) -> dict[str, CaseResult]:
    """The results of cases, and an error for each file that cannot be collected."""
    errors = {
        error.id: CaseResult(id=error.id, outcome="error", failure=error.failure) for error in collect_errors(execution)
    }
    return {**errors, **{result.id: result for result in case_results(execution)}}


def _with_cases_of_files(cases: Sequence[str], results: Collection[str]) -> tuple[str, ...]:
    """Returns the cases, with those that were found in a file instead of the file."""
    found: dict[str, list[str]] = {}
    for case in results:
        found.setdefault(case.partition("::")[0], []).append(case)
    return tuple(dict.fromkeys(each for case in cases for each in (found.get(case) or [case])))
