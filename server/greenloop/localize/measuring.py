"""Runs tests of the user's own code so that one that hangs or ends the process takes nothing from the others.

Where a case did not end, the run goes on behind it. Code that hangs is noticed at the first such case; the others get a
short limit then, learnt from those that ended. It must not know what the results are for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from time import monotonic

from greenloop.core.reach import Reach
from greenloop.core.test_selection import MOST_SELECTORS, fit_selectors
from greenloop.localize.context import BaselineContext
from greenloop_sandbox import CaseResult, Execution, case_results, collected_cases
from greenloop_sandbox.report.cases import records_of_kind

HUNG = 0.5  # of its limit: a case that was cut after so long hangs
SLOWER = 10  # times the slowest case that ended is the short limit
SHORTEST = 0.5  # seconds of it at least
MOST_SLOW = 2  # cases that take longer than a hasty run allows, after which it ends
CUT_SHORT = frozenset({"Timeout", "Crash", "MemoryLimit", "ProcessLimit"})  # failures that end a whole run


@dataclass(kw_only=True)
class Measurement:
    """Runs tests over the user's own code (`stubs` added) and collects what they show, by case id.

    `unknown` are cases that were collected but have no result, because the time did not suffice, and the `uncollected`:
    selectors whose cases there was no time to collect. `is_patient`: a case that was cut gets all the time that is left
    in the end, before it is called hanging.
    """

    context: BaselineContext
    stubs: Mapping[str, str] = field(default_factory=dict)
    is_patient: bool = False
    results: dict[str, CaseResult] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()
    uncollected: tuple[str, ...] = ()
    reach: Reach = field(default_factory=Reach)
    clock: Callable[[], float] = monotonic
    _most_each: float = inf
    _stuck: set[tuple[str, str]] = field(default_factory=set)  # functions that were seen to hang
    _slow: list[str] = field(default_factory=list)  # cases that were cut elsewhere

    @property
    def outcomes(self) -> dict[str, str]:
        return {case: result.outcome for case, result in self.results.items()}

    @property
    def hangs(self) -> bool:
        """Was a function seen to hang?"""
        return bool(self._stuck)

    def take_in(self, execution: Execution, limit: float) -> bool:
        """Adds what a run has shown in which a case had this limit; False where it has shown nothing new."""
        self.reach.add(execution)
        results = case_results(execution)
        new = [each for each in results if each.outcome != "missing" and self._is_known(each, execution, limit)]
        for result in new:
            self.results[result.id] = result
            if execution.killed == "timeout" and _was_cut(result) and (place := _place(result)):
                self._stuck.add(place)
        has_used_its_limit = execution.killed == "timeout" and execution.silent >= limit
        slow = [each.id for each in results if has_used_its_limit and _was_cut(each) and each not in new]
        slow = [case for case in slow if case not in self._slow]
        self._slow += slow
        waiting = dict.fromkeys([*self.unknown, *(each.id for each in results)])
        if has_collected(execution):
            waiting = {case: None for case in waiting if case not in self.uncollected}
            self.uncollected = ()
        self.unknown = tuple(case for case in waiting if case not in self.results)
        return bool(new or slow)

    def again(self, stubs: Mapping[str, str]) -> Measurement:
        """Returns a measurement of other texts that knows already which functions hang."""
        return Measurement(context=self.context, stubs=stubs, clock=self.clock, _stuck={*self._stuck})

    async def run(
        self, selectors: Sequence[str], *, seconds: float, without: Collection[str] = (), most_each: float = inf
    ) -> Execution:
        """Runs these tests except those `without` for at most `seconds`; returns the first execution.

        A case that takes longer than `most_each` is left for later; after `MOST_SLOW` of them all others are.
        """
        self._most_each = most_each
        try:
            return await self._run_all(selectors, seconds, without)
        finally:
            self._most_each = inf

    async def _run_all(self, selectors: Sequence[str], seconds: float, without: Collection[str]) -> Execution:
        deadline = self.clock() + seconds
        if without:
            first = await self.context.run(selectors, self.stubs, collect=True)
            known = {*without, *self.results}
            self.uncollected = () if has_collected(first) else tuple(selectors)
            found = [case.id for case in collected_cases(first)]
            self.unknown = self.uncollected or tuple(case for case in found if case not in known)
        else:
            limit = self._limit()
            self.unknown = self.uncollected = tuple(selectors)
            first = await self._run(selectors, (), seconds, limit)
            if not self.take_in(first, limit):
                return first
        await self.go_on(deadline - self.clock())
        return first

    async def go_on(self, seconds: float) -> None:
        """Runs the unknown cases for at most `seconds`."""
        deadline = self.clock() + seconds
        while (left := deadline - self.clock()) > 0 and self.unknown:
            waiting = [case for case in self.unknown if case not in self._slow]
            if self._most_each < inf and (not waiting or len(self._slow) >= MOST_SLOW):
                return
            again = [case for case in self._slow if case in self.unknown][:1]
            limit = min(self._limit(), left) if waiting else left
            execution = await self._run(fit_selectors(waiting or again), waiting or again, left, limit)
            if not self.take_in(execution, limit):
                return

    async def _run(self, selectors: Sequence[str], only: Sequence[str], seconds: float, limit: float) -> Execution:
        ids = tuple(only) if len(only) > MOST_SELECTORS else ()
        return await self.context.run(selectors, self.stubs, trace=True, only=ids, seconds=seconds, case_seconds=limit)

    def _limit(self) -> float:
        """The limit of one case: a short one after code was seen to hang, by the slowest case that ended."""
        full = min(self._most_each, self.context.place.limits.seconds)
        if not self._stuck:
            return full
        slowest = max((each.seconds for each in self.results.values() if not is_cut_short(each)), default=0.0)
        return min(full, max(SHORTEST, SLOWER * slowest))

    def _is_known(self, result: CaseResult, execution: Execution, limit: float) -> bool:
        """False for a case that was cut without being known to be at fault: a limit was used up before it."""
        if not _was_cut(result) or not execution.killed:
            return True
        if execution.killed != "timeout":
            return execution.killed not in {"report", "disk"}
        if _place(result) in self._stuck:
            return True
        full = self.context.place.limits.seconds
        if self.is_patient:
            return result.id in self._slow and execution.silent >= full
        return limit >= full and execution.silent >= HUNG * limit


def has_collected(execution: Execution) -> bool:
    """Is everything known that was selected? Also where some of it cannot be collected at all."""
    return not execution.killed or any(records_of_kind(execution, "collected"))


def is_cut_short(result: CaseResult) -> bool:
    """Did the case never run, or not to its end?"""
    return result.outcome == "missing" or _was_cut(result)


def _was_cut(result: CaseResult) -> bool:
    return result.failure is not None and result.failure.type in CUT_SHORT


def _place(result: CaseResult) -> tuple[str, str] | None:
    """The innermost function of the workspace that the case was in when it was cut."""
    frame = result.failure.frames[-1] if result.failure is not None and result.failure.frames else None
    return (frame.path, frame.function) if frame is not None else None
