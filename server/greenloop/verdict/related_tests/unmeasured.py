"""Runs the related tests whose turn comes after a result is offered; those that fail, over the user's code as well.

Many of them run in several sandboxes at once. It must not know where candidates come from.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from time import monotonic

from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.verification_inputs import VerificationInputs, check_sandbox
from greenloop.project.environment import cgroups
from greenloop.verdict.related_tests.own_code import own_run, run_alone, select, select_tolerantly
from greenloop.verdict.related_tests.related import fail_for_related, is_out_of_time
from greenloop_sandbox import CaseResult, Execution, Session, case_results, forged
from greenloop_sandbox.report.cases import collect_errors, records_of_kind

FIRST = 4  # tests or files of the first portion: the nearest come first, and what is broken mostly shows in them
GROWTH = 4  # times as many in the next one, at most
SHARE = 2  # of what waits, each sandbox takes this part of its equal share, so that all end at about the same time
SECONDS = 3.0  # of a portion, where so many tests wait: each starts pytest anew
LONGEST_PORTION = 9.0  # seconds that a portion is expected to take, so that there is news of it
WORTHWHILE = 1.0  # seconds that the rest is expected to take, for which another sandbox is opened
AHEAD = 6.0  # as WORTHWHILE, while the result is still being proven
SIDE_BY_SIDE = 4  # sandboxes at most, one for each processor
RESERVE = 10.0  # seconds of the run's time that are left alone
DONE = frozenset({"passed", "skipped", "xfailed", "xpassed"})


class _RefutedError(Exception):
    """Tests fail because of the candidate, or a report was forged: the other sandboxes need not go on."""

    def __init__(self, broken: Sequence[CaseResult], forgery: str = "") -> None:
        super().__init__()
        self.broken, self.forgery = broken, forgery


@dataclass(frozen=True, kw_only=True)
class LatePolicy:
    """Rules for tests that a result does not wait for.

    They `may_take_all` of the run's time, where that suffices for all of them. `durations` returns the seconds of tests
    with the user's own code, as far as they are known by now; `seconds` gets those of the tests that ran late.
    """

    may_take_all: bool = True
    durations: Callable[[], Mapping[str, float]] = dict
    seconds: dict[str, float] = field(default_factory=dict)


@dataclass(kw_only=True)
class UnmeasuredTests:
    """Tests that run in portions: on other processors from `start` on, in the caller's sandbox from `finish` on.

    Of files that the baseline had no time to collect, all cases are run. `left`: seconds that are left of the run's
    time; `usual`: seconds that one of them is known to take (0: not known); `most`: sandboxes at once. `report` gets
    how many have ended, and of how many. `waiting` are those that no run has shown yet, `lost` those that none will;
    `busy`: seconds of all sandboxes.
    """

    inputs: VerificationInputs
    files: Mapping[str, str]
    open_session: Callable[[], Awaitable[Session]]
    left: float
    policy: LatePolicy = field(default_factory=LatePolicy)
    most: int = field(default_factory=lambda: min(SIDE_BY_SIDE, cgroups.processor_count()))
    clock: Callable[[], float] = monotonic
    report: Callable[[int, int], None] = lambda _done, _all: None
    lost: tuple[str, ...] = ()
    portions: int = 0
    running: int = 0
    busy: float = 0.0
    passed: int = 0
    failed_before: int = 0
    flaky: list[str] = field(default_factory=list)
    waiting: tuple[str, ...] = field(init=False)
    usual: float = field(init=False)
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        inputs, self.waiting = self.inputs, self.inputs.unmeasured
        durations = self.policy.durations()
        known = [durations[case] for case in inputs.unmeasured if case in durations]
        self.usual = sum(known) / len(known) if known else 0.0
        self._candidate = replace(inputs.test_run(self.files), case_seconds=inputs.limits.seconds)
        self._began = self.clock()

    @property
    def is_possible(self) -> bool:
        """Are there any left, which can be compared with the user's own code, and is there time for them?"""
        return bool(self.waiting) and self.inputs.own is not None and self._seconds_left() > 0

    @property
    def goes_on(self) -> bool:
        """May a result be offered while they run? Not where one is known to fail because of the candidate."""
        has_refuted = any(task.done() and task.exception() for task in self._tasks)
        return (self.is_possible or self.running > 0) and not has_refuted

    def start(self, worthwhile: float = AHEAD) -> None:
        """Begins on the other processors, if the tests are expected to take that long, or it is not known."""
        is_known = self.usual or self._ended
        is_short = is_known and len(self.waiting) * self._seconds_each() <= worthwhile
        if self.is_possible and not is_short and not self._tasks:
            self._tasks = [asyncio.create_task(self._run_elsewhere()) for _number in range(self.most - 1)]

    async def finish(self, session: Session, verdict: Verdict) -> Verdict:
        """Returns the verdict after all these tests: failed where one fails because of the candidate."""
        if verdict.status is not Status.PASSED or not (self._tasks or self.is_possible):
            return self.count_in(verdict)
        began = self.clock()
        self._tell()
        try:
            if not self.usual and not self._tasks:  # it says whether they are worth another sandbox
                await self._run_portion(session)
            self.start(WORTHWHILE)
            self._tasks.append(asyncio.create_task(self._run_portions(session)))
            await asyncio.gather(*self._tasks)
        except _RefutedError as error:
            failed = fail_for_related(verdict, error.broken)
            verdict = replace(verdict, status=Status.TAMPERED, reason=error.forgery) if error.forgery else failed
        else:
            verdict = self.count_in(verdict)
        finally:
            await self.stop()
        return replace(verdict, seconds=verdict.seconds + self.clock() - began)

    def count_in(self, verdict: Verdict) -> Verdict:
        """Returns the verdict with the results so far."""
        left_out = len(self.waiting) + len(self.lost) + self.running
        return replace(
            verdict,
            flaky=(*verdict.flaky, *self.flaky),
            related=replace(
                verdict.related.without(left_out, late=True),
                late_passes=self.passed + len(self.flaky),
                late_failures=self.failed_before,
            ),
        )

    async def stop(self) -> None:
        """Ends what runs on other processors, and leaves nothing behind. May be called any number of times."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _run_elsewhere(self) -> None:
        session = await self.open_session()
        try:
            await self._run_portions(session)
        finally:
            await asyncio.shield(session.close())

    async def _run_portions(self, session: Session) -> None:
        """Runs portions until none is left or the time is over. Raises `_RefutedError`."""
        while self.waiting and self._seconds_left() >= self._seconds_each():
            await self._run_portion(session)
            self._tell()

    def _tell(self) -> None:
        self.report(self._ended, self._ended + len(self.waiting) + len(self.lost) + self.running)

    async def _run_portion(self, session: Session) -> None:
        """Runs the next portion and takes in what it shows. Raises `_RefutedError`."""
        size = self._portion_size()
        self.portions += 1
        portion, self.waiting = self.waiting[:size], self.waiting[size:]
        self.running += len(portion)
        began = self.clock()
        execution = await session.run(
            replace(select_tolerantly(self._candidate, portion), seconds=self._seconds_left())
        )
        self.busy += self.clock() - began
        self.running -= len(portion)
        check_sandbox(execution)
        if forgery := forged(execution):
            raise _RefutedError((), forgery)
        if broken := await self._broken(session, self._take_in(portion, execution)):
            raise _RefutedError(broken)

    def _portion_size(self) -> int:
        if self.portions == 0 and not self.usual:
            return FIRST
        is_known = self._ended or self.usual
        worthwhile = ceil(SECONDS / self._seconds_each()) if is_known else FIRST
        equal = len(self.waiting) // (SHARE * max(1, len(self._tasks)))
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
        """Seconds for the next run: those of a suite, or all of the run's where these are expected to suffice."""
        taken, most = self.clock() - self._began, self.left - RESERVE
        waiting = len(self.waiting) + self.running
        suffices = self.policy.may_take_all and self._ended > 0 and taken + waiting * taken / self._ended < most
        return (most if suffices else min(self.inputs.suite_seconds, most)) - taken

    def _take_in(self, portion: Sequence[str], execution: Execution) -> dict[str, CaseResult]:
        """Returns the results of the tests that ended; behind one that ends a run, the others wait again."""
        results = _results_by_id(execution)
        known = _finished(results, execution, self._candidate.case_seconds)
        self.policy.seconds.update({case: each.seconds for case, each in known.items() if each.seconds})
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
            repeat = _results_by_id(await session.run(select(self._candidate, [each.id for each in broken])))
            broken = [each for each in broken if each.id not in repeat or not repeat[each.id].passed]
        return broken

    async def _run_own(self, session: Session, cases: Sequence[str]) -> dict[str, CaseResult]:
        """Runs these cases with the user's own code, together; the first of those that do not end so, each alone."""
        if not cases:
            return {}
        seconds = max(self.inputs.limits.seconds, self._seconds_left())
        run = replace(select_tolerantly(self._candidate, cases), seconds=seconds)
        execution = await session.run(own_run(self.inputs, run))
        check_sandbox(execution)
        found = {} if forged(execution) else _results_by_id(execution)
        ended = {
            case: found[case] for case in _finished(found, execution, self._candidate.case_seconds) if case in cases
        }
        if not execution.killed:  # a file without an error is one that can be collected
            files = [case for case in cases if "::" not in case and case not in found]
            ended |= {file: CaseResult(id=file, outcome="passed") for file in files}
        waiting = [case for case in cases if case not in ended]
        return {**await run_alone(self.inputs, session, waiting, self._candidate.hash_seed), **ended}


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
