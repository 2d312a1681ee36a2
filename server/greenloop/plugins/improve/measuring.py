"""Measures what a workload costs with a candidate and with the user's own code, by running both in turns."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import ceil
from statistics import median
from time import monotonic

from greenloop.core.errors import CannotVerifyError
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Provenance
from greenloop.core.verification_inputs import VerificationInputs, check_sandbox
from greenloop.plugins.improve import workloads
from greenloop.plugins.improve.aims import Goal
from greenloop.plugins.improve.measured_runs import LOOKS, RunCost, check_gain, measure_pairs, read_cost
from greenloop.plugins.improve.records import Gain, ProfiledLine, Workload
from greenloop.plugins.improve.wording import show_cost
from greenloop.plugins.improve.workloads import failed_call
from greenloop.project.syntax import definitions
from greenloop_sandbox import Execution, ProfiledLines, Session, TestRun, WatchedLines, case_results
from greenloop_sandbox.report.cases import describe_end
from greenloop_sandbox.report.traces import LineCost, line_costs

LONGEST = 120  # characters of a profiled line
_SOURCES = {
    Provenance.TRACE: "the recorded call of `spec.trace`",
    Provenance.DOCTEST: "the example in the docstring",
    Provenance.EXAMPLE: "the example in the docstring",
}
# What costs less disappears in the noise of starting a test.
LEAST = {Goal.TIME: 0.005, Goal.MEMORY: 100_000}
REPEATED_EVERY = 3  # of so many pairs, one repeats the calls in its processes, too
REPEATED_SECONDS = 0.02  # that the user's own code takes for the repeated calls at least
MOST_REPEATS = 10


@dataclass(frozen=True, kw_only=True)
class Bench:
    """Place where workloads run: over the user's texts (`inputs`), in this session; `goal` is time or memory.

    `memory` is the share of memory in the cost where the goal is time.
    """

    inputs: VerificationInputs
    session: Session
    goal: Goal = Goal.TIME
    memory: float = 0.0
    lots: random.Random = field(default_factory=random.Random)

    async def measure(self, files: Mapping[str, str], workload: Workload, *, below: float) -> Gain | str:
        """Measures the candidate of these changed texts in pairs of runs, as many as the answer needs.

        `below` is what the interval has to stay under. Returns why the workload did not run to its end, where it did
        not.
        """
        # Both are laid over the project, so that neither profits from what the other has to compile or read anew.
        own = {path: self.inputs.problem.files[path] for path in files if path in self.inputs.problem.files}
        runs: dict[bool, list[RunCost]] = {False: [], True: []}
        failures: list[str] = []

        async def cost(is_new: bool) -> float | None:
            is_thorough = len(runs[is_new]) % REPEATED_EVERY == 0
            passes = 1 + workload.repeats if is_thorough else 1
            run, execution = await self._measure(workload, files if is_new else own, passes, is_seen=is_thorough)
            if run is None:
                failures.append(_describe_failure(workload, execution))
                return None
            runs[is_new].append(run)
            return self._combine(run)

        gain = await measure_pairs(self.goal, cost, below=below, lots=self.lots)
        if gain is None:
            return failures[0]
        if self.goal is Goal.TIME:
            before, after = (median(run.first for run in runs[is_new]) for is_new in (False, True))
            gain = replace(gain, before=before, after=after)
        if self.memory:
            before, after = (float(median(run.bytes for run in runs[is_new])) for is_new in (False, True))
            gain = replace(gain, bytes_before=before, bytes_after=after)
        return check_gain(gain, runs[False], runs[True], below=below)

    def _combine(self, run: RunCost) -> float:
        """The cost of a run as one number; of time and memory, each has its share as its exponent."""
        if self.goal is Goal.MEMORY:
            return float(run.bytes)
        if not self.memory:
            return run.first
        # Below that, memory is that of starting a test.
        return float(run.first ** (1 - self.memory) * max(run.bytes, LEAST[Goal.MEMORY]) ** self.memory)

    async def calibrate(self, workload: Workload, seconds_left: float) -> tuple[Workload, float]:
        """Returns the workload with its repeats, and its cost with the user's own code: seconds, or bytes.

        Raises `CannotVerifyError` where it does not run to its end, costs too little to compare, or takes so long that
        a candidate could not be measured in the time that is left.
        """
        workload = await self._with_results(workload)
        began = monotonic()
        run, execution = await self._measure(workload, {}, 1)
        taken = monotonic() - began
        problem = self.inputs.problem
        name = problem.regions[0].qualname
        if run is None:
            raise CannotVerifyError(
                f"What calls {name} does not run to its end: {_describe_failure(workload, execution)}",
                remedy=_remedy(problem, workload, execution),
            )
        if taken * 2 * LOOKS[0] > seconds_left:
            raise CannotVerifyError(
                f"What calls {name} takes {taken:.0f} s, and a candidate needs {2 * LOOKS[0]} such runs: more than the "
                f"{seconds_left:.0f} s that are left.",
                remedy=f"{_other_calls(name, workload, 'less')} Or allow more: --seconds N.",
            )
        cost = float(run.bytes) if self.goal is Goal.MEMORY else run.first
        if cost < LEAST[self.goal]:
            raise CannotVerifyError(
                f"What calls {name} takes {show_cost(self.goal, cost)}: too little to compare.",
                remedy=_other_calls(name, workload, "more"),
            )
        if self.goal is Goal.TIME:
            repeats = min(max(1, ceil(REPEATED_SECONDS / cost)), MOST_REPEATS)
            again, _execution = await self._measure(workload, {}, 1 + repeats)
            workload = replace(workload, repeats=repeats if again is not None else 0)  # some tests run only once
        return workload, cost

    async def _with_results(self, workload: Workload) -> Workload:
        """Returns the workload with what its calls give, where that is the same twice."""
        if not workload.calls:
            return workload
        known: list[dict[str, str]] = []
        for _number in range(2):
            execution = await self.run(workload, {})
            results = (result for result in case_results(execution) if result.failure)
            known.append({each.id: each.failure.message for each in results if each.failure})
        same = {case: said for case, said in known[0].items() if known[1].get(case) == said}
        return workloads.with_results(workload, same)

    async def profile(self, files: Mapping[str, str], workload: Workload) -> tuple[ProfiledLine, ...]:
        """Returns the costs of the function's lines over the changed texts, the highest first, without free ones."""
        problem = self.inputs.problem
        region = problem.regions[0]
        text = files.get(region.path, problem.files[region.path])
        found = definitions.find_by_qualname(definitions.find_definitions(text, region.path), region.qualname)
        if found is None:
            return ()
        lines = WatchedLines(path=region.path, start=found.start, end=found.end)
        profile = ProfiledLines(lines=(lines,), memory=self.goal is Goal.MEMORY)
        return profiled_lines(line_costs(await self.run(workload, files, profile), lines.path), text, self.goal)

    async def run(
        self,
        workload: Workload,
        files: Mapping[str, str],
        profile: ProfiledLines | None = None,
        *,
        more_seconds: float = 0.0,
        passes: int = 0,
    ) -> Execution:
        """Runs the workload over these changed texts; of the user's own code, where there are none.

        With `passes`, that number of times, and the supervisor measures what the calls cost.
        """
        inputs = self.inputs
        added = {path: text.encode() for path, text in workload.files.items()}
        run = TestRun(
            selectors=workload.selectors,
            files={**inputs.problem.buffers, **inputs.generated_files, **added, **inputs.encode(files)},
            profile=profile,
            passes=passes,
            seconds=inputs.limits.seconds + more_seconds,
        )
        execution = await self.session.run(run)
        check_sandbox(execution)
        return execution

    async def _measure(
        self, workload: Workload, files: Mapping[str, str], passes: int, *, is_seen: bool = True
    ) -> tuple[RunCost | None, Execution]:
        """Runs the workload over these changed texts; returns its cost, None where it does not end well.

        Python's allocator takes time and memory to record what it does, so that its number has a run of its own. With
        memory as the goal, the other run shows what is seen from outside (`is_seen`).
        """
        execution, seen = Execution(), None
        if is_seen or self.goal is Goal.TIME:
            execution = await self.run(workload, files, passes=passes)
            seen = read_cost(execution, passes)
            if seen is None or (self.goal is Goal.TIME and not self.memory):
                return seen, execution
        execution = await self.run(workload, files, ProfiledLines(memory=True), passes=1)
        recorded = read_cost(execution, 1)
        if recorded is None:
            return None, execution
        if seen is None:
            return replace(recorded, costs=replace(recorded.costs, peak=0)), execution
        return replace(seen, bytes=recorded.bytes), execution


def _other_calls(name: str, workload: Workload, amount: str) -> str:
    """Returns the remedy for calls that take too much or too little."""
    if workload.calls:
        return f"Change the calls in the file of --inputs, so that they take {amount}."
    return f"Name a file with calls of {name} that take {amount}, one in each line: --inputs FILE."


def _remedy(problem: Problem, workload: Workload, execution: Execution) -> str:
    """Returns the remedy for a call that fails, by the origin of the call.

    All but those of --inputs have passed before, in the baseline.
    """
    if execution.killed == "timeout":
        return "Give it more: --set sandbox.seconds=60, or name calls that take less: --inputs FILE."
    if workload.calls:
        return "Correct it in the file of --inputs, or leave it out."
    failed = {each.id for each in case_results(execution) if not each.passed}
    origin = next((case.provenance for case in problem.spec.cases if case.id in failed), Provenance.USER)
    source = _SOURCES.get(origin, "the test")
    return (
        f"It passed before: make {source} repeatable (no random numbers, nothing kept from run to run), or name calls "
        "to measure instead: --inputs FILE."
    )


def _describe_failure(workload: Workload, execution: Execution) -> str:
    """Returns which call failed, and why: `f(1, 2)`: TypeError: f() takes 1 positional argument but 2 were given."""
    failed = next((each for each in case_results(execution) if not each.passed), None)
    if failed is None or failed.failure is None:
        return f"{describe_end(execution) or 'nothing was run'}."
    message = failed.failure.message.split("\n")[0].removeprefix(f"{failed.failure.type}: ")
    return f"`{failed_call(workload, failed.id)}`: {failed.failure.type}: {message[:200]}"


def profiled_lines(costs: Mapping[int, LineCost], text: str, goal: Goal) -> tuple[ProfiledLine, ...]:
    """Returns the costs with the lines' texts, the most expensive first; lines that cost nothing are left out."""
    rows = text.split("\n")
    lines = [
        ProfiledLine(
            line=line,
            text=rows[line - 1].rstrip()[:LONGEST],
            times=cost.times,
            cost=float(cost.bytes if goal is Goal.MEMORY else cost.seconds),
        )
        for line, cost in costs.items()
        if 0 < line <= len(rows)
    ]
    return tuple(sorted((each for each in lines if each.cost > 0), key=lambda each: (-each.cost, each.line)))
