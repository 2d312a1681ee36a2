"""Goes on with the traced run of the related tests while the model writes, where the baseline had no time for all.

It has a sandbox of its own, so that no candidate waits for it. What it has found is read before an acceptance.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

from greenloop.core.errors import CannotVerifyError
from greenloop.core.run_state import RunState
from greenloop.localize.context import with_reach
from greenloop.localize.measuring import Measurement
from greenloop.localize.related_tests import read_related
from greenloop_sandbox import Session

ONE_RUN = 5.0  # seconds after which results are taken in; what a cancelled run has shown is lost
LONGEST = 3  # times the limit of the related tests, for all runs together


@dataclass(kw_only=True)
class RelatedTrace:
    """The background run of one request. `start` and `stop` may be called any number of times."""

    state: RunState
    measurement: Measurement | None
    open_session: Callable[[], Awaitable[Session]]
    seconds: float
    _task: asyncio.Task[None] | None = None
    _spent: float = field(default=0.0)

    def start(self) -> None:
        """Goes on, if there is anything left."""
        if self._task is None and self.measurement is not None and self.state.unmeasured and self._left() > 0:
            self.measurement.unknown = self.state.unmeasured
            self._task = asyncio.create_task(self._go_on(self.measurement))

    async def stop(self) -> None:
        """Ends it, and puts what it has found into the run's state; leaves nothing behind."""
        task, self._task = self._task, None
        if task is None or self.measurement is None:
            return
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        state, measurement = self.state, self.measurement
        targets = {case.id for case in state.problem.spec.cases}
        related = read_related(measurement, targets)
        state.unmeasured = related.unmeasured
        state.outcomes = {**related.outcomes, **state.outcomes}
        failing = [case for case in targets if state.outcomes.get(case) != "passed"]
        known = dict.fromkeys([*state.problem.neighbours, *related.outcomes])
        problem = replace(state.problem, neighbours=tuple(case for case in known if case not in targets))
        state.problem = with_reach(problem, related.reached, failing)

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
