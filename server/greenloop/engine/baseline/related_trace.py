"""Related tests that become known during a run: traced while the model writes, or of files that join the problem."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from greenloop.core.records.problem import Problem
from greenloop.core.run_state import RunState
from greenloop.engine.baseline.background_job import BackgroundJob
from greenloop.localize.context import BaselineContext, with_reach
from greenloop.localize.measuring import Measurement
from greenloop.localize.related_tests import RelatedTestsRun, read_related
from greenloop.project.workspace import importing_tests
from greenloop.verdict.related_tests.unmeasured import LatePolicy
from greenloop.verdict.verifier import OpenSession
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


@dataclass(kw_only=True)
class RelatedTests:
    """Writes the problem of a run, and which related tests are unmeasured, as more of them become known."""

    context: BaselineContext
    state: RunState
    measurement: Measurement | None
    open_session: OpenSession
    trace: RelatedTrace = field(init=False)
    late: LatePolicy = field(init=False)

    def __post_init__(self) -> None:
        settings, measurement = self.context.settings, self.measurement
        self.trace = RelatedTrace(
            measurement=measurement, open_session=self.open_session, seconds=settings.suite.seconds
        )
        self.late = LatePolicy(may_take_all=settings.apply != "partial", durations=self._durations)

    def start(self) -> None:
        """Goes on with the traced run in the background."""
        self.trace.start(self.state.unmeasured)

    async def stop(self) -> None:
        """Ends the background run, and takes over its record. Known outcomes count before its own."""
        state = self.state
        if (related := await self.trace.take_record({case.id for case in state.problem.spec.cases})) is None:
            return
        state.unmeasured = related.unmeasured
        outcomes = state.learn_outcomes({**related.outcomes, **state.outcomes})
        state.problem = with_related(state.problem, related, outcomes)

    async def extend(self, problem: Problem) -> None:
        """Takes the problem with further files; test files that import these are related, with unknown outcomes."""
        state, snapshot = self.state, self.context.snapshot
        paths = [path for path in problem.files if path not in state.problem.files]
        state.problem = problem
        known = {case.partition("::")[0] for case in (*problem.neighbours, *state.unmeasured)}
        known |= {case.path for case in problem.spec.cases}
        for module in (path for path in paths if path.endswith(".py")):
            found = await asyncio.to_thread(importing_tests, snapshot.root, module, buffers=snapshot.buffers)
            state.unmeasured += tuple(path for path in found if path not in known)
            known |= {*found}

    def keep(self) -> None:
        """Keeps what this run has shown of the tests for the next one."""
        known, measurement = self.context.known_tests, self.measurement
        if known is not None and measurement is not None and not measurement.stubs and not measurement.uncollected:
            known.keep(measurement.results, measurement.unknown, measurement.reach, self.late.seconds)

    def _durations(self) -> dict[str, float]:
        results, known = self.measurement.results if self.measurement else {}, self.context.known_tests
        measured = {case: each.seconds for case, each in results.items()}
        return {case: each for case, each in {**(known.seconds if known else {}), **measured}.items() if each}


def with_related(problem: Problem, related: RelatedTestsRun, outcomes: Mapping[str, str]) -> Problem:
    """Returns the problem with these related tests, and with what they reach; `outcomes` are all that are known."""
    targets = {case.id for case in problem.spec.cases}
    failing = [case for case in targets if outcomes.get(case) != "passed"]
    known = dict.fromkeys([*problem.neighbours, *related.outcomes])
    problem = replace(problem, neighbours=tuple(case for case in known if case not in targets))
    return with_reach(problem, related.reached, failing)
