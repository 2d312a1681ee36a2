"""Goes on with the traced run of the related tests while the model writes, where the baseline had no time for all."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from greenloop.core.records.problem import Problem
from greenloop.engine.baseline.background_job import BackgroundJob
from greenloop.localize.context import with_reach
from greenloop.localize.measuring import Measurement
from greenloop.localize.related_tests import RelatedTestsRun, read_related
from greenloop_sandbox import Session

ONE_RUN = 5.0  # seconds after which results are taken in; what a cancelled run has shown is lost
LONGEST = 3  # times the limit of the related tests, for all runs together


@dataclass(kw_only=True)
class RelatedTrace(BackgroundJob):
    """The background run of one request, whose record the run takes over before an acceptance."""

    measurement: Measurement | None
    seconds: float
    _spent: float = field(default=0.0)

    def start(self, unmeasured: tuple[str, ...]) -> None:
        """Goes on with these tests, if there are any and time is left. May be called any number of times."""
        if not self.has_begun and self.measurement is not None and unmeasured and self._left() > 0:
            self.measurement.unknown = unmeasured
            self.begin(partial(self._go_on, self.measurement))

    async def take_record(self, targets: Collection[str]) -> RelatedTestsRun | None:
        """Stops, and returns what is known of tests that are not targets; None where nothing ran since."""
        had_begun = self.has_begun
        await self.stop()
        return read_related(self.measurement, targets) if had_begun and self.measurement is not None else None

    def _left(self) -> float:
        return LONGEST * self.seconds - self._spent

    async def _go_on(self, measurement: Measurement, session: Session) -> None:
        """Runs the unknown tests bit by bit until all are known or the time is up."""
        loop = asyncio.get_running_loop()
        before, began = measurement.context, loop.time()
        measurement.context = replace(before, session=session)
        try:
            while measurement.unknown and loop.time() - began < self._left():
                known = len(measurement.results)
                await measurement.go_on(self._left() if measurement.uncollected else ONE_RUN)
                if len(measurement.results) == known:
                    break
        finally:
            self._spent += loop.time() - began
            measurement.context = before


def with_related(problem: Problem, related: RelatedTestsRun, outcomes: Mapping[str, str]) -> Problem:
    """Returns the problem with these related tests, and with what they reach; `outcomes` are all that are known."""
    targets = {case.id for case in problem.spec.cases}
    failing = [case for case in targets if outcomes.get(case) != "passed"]
    known = dict.fromkeys([*problem.neighbours, *related.outcomes])
    problem = replace(problem, neighbours=tuple(case for case in known if case not in targets))
    return with_reach(problem, related.reached, failing)
