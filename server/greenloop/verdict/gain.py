"""Measures what a workload costs with a candidate and with the user's own code, by running both in turns."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from statistics import median
from time import monotonic

from greenloop.core.errors import CannotVerifyError
from greenloop.core.ports import Session
from greenloop.core.records.goal import Gain, Goal, ProfiledLine, Workload
from greenloop.core.records.problem import Problem
from greenloop.core.records.sandbox import Execution, ProfiledLines, TestRun, WatchedLines
from greenloop.core.records.spec import Provenance
from greenloop.core.report.cases import case_results, describe_end, passed_seconds
from greenloop.core.report.traces import LineCost, line_costs, peak_bytes
from greenloop.core.summary import show_cost
from greenloop.project.syntax import definitions
from greenloop.specs.goals import failed_call
from greenloop.verdict.inputs import VerificationInputs, check_sandbox
from greenloop.verdict.paired_costs import LOOKS, measure_pairs

LONGEST = 120  # characters of a profiled line
_SOURCES = {
    Provenance.TRACE: "the recorded call of `spec.trace`",
    Provenance.DOCTEST: "the example in the docstring",
    Provenance.EXAMPLE: "the example in the docstring",
}
# What costs less disappears in the noise of starting a test.
LEAST = {Goal.TIME: 0.005, Goal.MEMORY: 100_000}


@dataclass(frozen=True, kw_only=True)
class Bench:
    """Where workloads are run: over the user's texts (`inputs`), in this session; `goal` is time or memory.

    `memory` is the share of memory in the cost where the goal is time.
    """

    inputs: VerificationInputs
    session: Session
    goal: Goal = Goal.TIME
    memory: float = 0.0
    lots: random.Random = field(default_factory=random.Random)

    async def measure(self, files: Mapping[str, str], workload: Workload, *, below: float) -> Gain | None:
        """Measures the candidate of these changed texts in pairs of runs, as many as the answer needs.

        `below` is what the interval has to stay under. None: the workload did not run to its end.
        """
        # Both are laid over the project, so that neither profits from what the other has to compile or read anew.
        own = {path: self.inputs.problem.files[path] for path in files if path in self.inputs.problem.files}
        if self.memory:
            return await self._measure_both(workload, own, files, below)
        return await measure_pairs(
            self.goal,
            lambda is_new: self.cost(workload, files if is_new else own),
            below=below,
            lots=self.lots,
        )

    async def _measure_both(
        self, workload: Workload, own: Mapping[str, str], files: Mapping[str, str], below: float
    ) -> Gain | None:
        """Measures time and memory as one cost, of which each ratio has its share as its exponent.

        Each has a run of its own, as recording memory takes time.
        """
        by_memory = replace(self, goal=Goal.MEMORY)
        measured: dict[bool, list[tuple[float, float]]] = {False: [], True: []}

        async def cost(is_new: bool) -> float | None:
            texts = files if is_new else own
            seconds, most = [await each.cost(workload, texts) for each in (self, by_memory)]
            if seconds is None or most is None:
                return None
            measured[is_new].append((seconds, most))
            # Below that, memory is that of starting a test.
            return float(max(seconds, 1e-9) ** (1 - self.memory) * max(most, LEAST[Goal.MEMORY]) ** self.memory)

        gain = await measure_pairs(self.goal, cost, below=below, lots=self.lots)
        if gain is None:
            return None
        (before, bytes_before), (after, bytes_after) = (
            [median(column) for column in zip(*measured[is_new], strict=True)] for is_new in (False, True)
        )
        return replace(gain, before=before, after=after, bytes_before=bytes_before, bytes_after=bytes_after)

    async def own_cost(self, workload: Workload, seconds_left: float) -> float:
        """Returns the cost of the workload with the user's own code: seconds, or bytes.

        Raises `CannotVerifyError` where it does not run to its end, costs too little to compare, or takes so long that
        a candidate could not be measured in the time that is left.
        """
        began = monotonic()
        execution = await self._measured(workload, {})
        cost, taken = self._cost_of(execution), monotonic() - began
        problem = self.inputs.problem
        name = problem.regions[0].qualname
        if cost is None:
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
        if cost < LEAST[self.goal]:
            raise CannotVerifyError(
                f"What calls {name} takes {show_cost(self.goal, cost)}: too little to compare.",
                remedy=_other_calls(name, workload, "more"),
            )
        return cost

    async def profile(self, files: Mapping[str, str], workload: Workload) -> tuple[ProfiledLine, ...]:
        """Returns what the lines of the function cost over the changed texts, the dearest first, without free ones."""
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
    ) -> Execution:
        """Runs the workload over these changed texts; of the user's own code, where there are none."""
        inputs = self.inputs
        added = {path: text.encode() for path, text in workload.files.items()}
        run = TestRun(
            selectors=workload.selectors,
            files={**inputs.problem.buffers, **inputs.generated_files, **added, **inputs.encode(files)},
            seconds=inputs.limits.seconds + more_seconds,
        )
        execution = await self.session.run(replace(run, profile=profile))
        check_sandbox(execution)
        return execution

    async def _measured(self, workload: Workload, files: Mapping[str, str]) -> Execution:
        return await self.run(workload, files, ProfiledLines(memory=True) if self.goal is Goal.MEMORY else None)

    def _cost_of(self, execution: Execution) -> float | None:
        """Returns what the cases cost without their fixtures; None where one did not pass."""
        return peak_bytes(execution) if self.goal is Goal.MEMORY else passed_seconds(execution)

    async def cost(self, workload: Workload, files: Mapping[str, str]) -> float | None:
        """Runs the workload over these changed texts; returns its seconds or bytes, None where it does not end well."""
        return self._cost_of(await self._measured(workload, files))


def _other_calls(name: str, workload: Workload, amount: str) -> str:
    """What to do where the calls take too much or too little."""
    if workload.calls:
        return f"Change the calls in the file of --inputs, so that they take {amount}."
    return f"Name a file with calls of {name} that take {amount}, one in each line: --inputs FILE."


def _remedy(problem: Problem, workload: Workload, execution: Execution) -> str:
    """What to do about a call that fails, by where it comes from.

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
    """Which call failed, and why: `f(1, 2)`: TypeError: f() takes 1 positional argument but 2 were given."""
    failed = next((each for each in case_results(execution) if not each.passed), None)
    if failed is None or failed.failure is None:
        return f"{describe_end(execution) or 'nothing was run'}."
    message = failed.failure.message.split("\n")[0].removeprefix(f"{failed.failure.type}: ")
    return f"`{failed_call(workload, failed.id)}`: {failed.failure.type}: {message[:200]}"


def profiled_lines(costs: Mapping[int, LineCost], text: str, goal: Goal) -> tuple[ProfiledLine, ...]:
    """Returns the costs with the lines' texts, the dearest first; lines that cost nothing are left out."""
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
