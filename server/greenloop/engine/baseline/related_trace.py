"""Goes on with the traced run of the related tests while the model writes, where the baseline had no time for all.

It has a sandbox of its own, so that no candidate waits for it. It writes a record of its own, which the run
takes over before an acceptance.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

from greenloop.core.errors import CannotVerifyError
from greenloop.core.records.problem import Problem
from greenloop.localize.context import with_reach
from greenloop.localize.measuring import Measurement
from greenloop.localize.related_tests import RelatedTestsRun, read_related
from greenloop_sandbox import Session

ONE_RUN = 5.0  # seconds after which results are taken in; what a cancelled run has shown is lost
LONGEST = 3  # times the limit of the related tests, for all runs together


@dataclass(kw_only=True)
class RelatedTrace:
    """The background run of one request. `start` and `stop` may be called any number of times."""

    measurement: Measurement | None
    open_session: Callable[[], Awaitable[Session]]
    seconds: float
    _task: asyncio.Task[None] | None = None
    _spent: float = field(default=0.0)

    def start(self, unmeasured: tuple[str, ...]) -> None:
        """Goes on with these tests, if there are any and time is left."""
        if self._task is None and self.measurement is not None and unmeasured and self._left() > 0:
            self.measurement.unknown = unmeasured
            self._task = asyncio.create_task(self._go_on(self.measurement))

    async def stop(self, targets: Collection[str]) -> RelatedTestsRun | None:
        """Ends it and leaves nothing behind; returns what is known of tests that are not targets, or None if idle."""
        task, self._task = self._task, None
        if task is None or self.measurement is None:
            return None
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return read_related(self.measurement, targets)

    def _left(self) -> float:
        return LONGEST * self.seconds - self._spent

    async def _go_on(self, measurement: Measurement) -> None:
        """Runs the unknown tests bit by bit until all are known or the time is up."""
        loop = asyncio.get_running_loop()
        before, began = measurement.context, loop.time()
        session = None
        try:
            session = await self.open_session()
            measurement.context = replace(before, session=session)
            while measurement.unknown and loop.time() - began < self._left():
                known = len(measurement.results)
                await measurement.go_on(self._left() if measurement.uncollected else ONE_RUN)
                if len(measurement.results) == known:
                    break
        except CannotVerifyError:
            pass  # then these tests stay unknown, and run with the candidate
        finally:
            self._spent += loop.time() - began
            measurement.context = before
            if session is not None:
                await asyncio.shield(session.close())


def with_related(problem: Problem, related: RelatedTestsRun, outcomes: Mapping[str, str]) -> Problem:
    """Returns the problem with these related tests, and with what they reach; `outcomes` are all that are known."""
    targets = {case.id for case in problem.spec.cases}
    failing = [case for case in targets if outcomes.get(case) != "passed"]
    known = dict.fromkeys([*problem.neighbours, *related.outcomes])
    problem = replace(problem, neighbours=tuple(case for case in known if case not in targets))
    return with_reach(problem, related.reached, failing)
