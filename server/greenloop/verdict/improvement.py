"""Judges a candidate that passes by its goal: does it do the same on other inputs, and does it cost less?

Where it does not cost less, the reason tells what its lines cost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from greenloop.core.ports import Session
from greenloop.core.records.goal import Gain, Goal, Improvement, ProfiledLine, Workload
from greenloop.core.records.spec import Case
from greenloop.core.records.verdict import CaseResult, Failure
from greenloop.core.report import case_results, describe_end, passed_seconds
from greenloop.core.summary import describe_gain, show_cost
from greenloop.specs import goals
from greenloop.verdict.gain import Bench
from greenloop.verdict.inputs import VerificationInputs

TYPES = {Goal.TIME: "NotFaster", Goal.MEMORY: "NotSmaller"}
DIFFERENT = "Different"
SHOWN = 5  # lines that cost most
KEPT = 40  # of them, as evidence


async def judge(
    inputs: VerificationInputs, session: Session, files: Mapping[str, str], wanted: Improvement, *, passes: bool
) -> tuple[list[CaseResult], Gain | None]:
    """Returns the results of the goal's cases, and what was measured; nothing runs where tests fail (not `passes`)."""
    bench = Bench(inputs=inputs, session=session, goal=wanted.goal)
    problem, results, gain = inputs.problem, [], None
    is_same = passes
    if wanted.comparison is not None:
        failure = await compare_results(bench, files, wanted.comparison) if passes else None
        is_same = passes and failure is None
        results.append(_result(goals.same_case(problem), failure, was_run=passes))
    if wanted.workload is not None:
        failure = None
        if is_same:
            gain = await bench.measure(files, wanted.workload, below=wanted.below)
            failure = await _missed(bench, files, wanted, gain)
        results.append(_result(goals.gain_case(problem, wanted.goal), failure, was_run=is_same))
    return results, gain


async def with_profiles(
    inputs: VerificationInputs, session: Session, files: Mapping[str, str], wanted: Improvement, gain: Gain
) -> Gain:
    """Returns the gain with what the lines of the user's own code and of the accepted candidate cost."""
    assert wanted.workload is not None
    bench = Bench(inputs=inputs, session=session, goal=wanted.goal)
    before, after = [await bench.profile(each, wanted.workload) for each in ({}, files)]
    return replace(gain, lines_before=before[:KEPT], lines_after=after[:KEPT])


async def compare_results(bench: Bench, files: Mapping[str, str], comparison: Workload) -> Failure | None:
    """Runs the comparison over these changed texts; returns the first difference, or None."""
    execution = await bench.run(comparison, files)
    if passed_seconds(execution) is not None:
        return None
    failures = [result.failure for result in case_results(execution) if result.failure]
    message = failures[0].message if failures else describe_end(execution) or "The comparison did not run to its end."
    rows = [row for row in message.split("\n") if "differs from before" in row] or message.split("\n")
    said = rows[0].removeprefix("AssertionError: ")
    return Failure(type=DIFFERENT, message=said, text=said)


async def _missed(bench: Bench, files: Mapping[str, str], wanted: Improvement, gain: Gain | None) -> Failure | None:
    """Returns why a measured candidate does not cost less, with its dearest lines; None where it does."""
    if gain is not None and gain.high < wanted.below:
        return None
    if gain is None or wanted.workload is None:
        message = "The calls that are to be measured do not run to their end."
        return Failure(type=TYPES[wanted.goal], message=message, text=message)
    message = f"{describe_gain(gain)}: less than {wanted.below:g} of it is asked for."
    message = "\n".join([message, *describe_costs(await bench.profile(files, wanted.workload), wanted.goal)])
    return Failure(type=TYPES[wanted.goal], message=message, text=message)


def describe_costs(lines: Sequence[ProfiledLine], goal: Goal) -> list[str]:
    """The lines that cost most, each with its text: `line 4, 6000 times, 41 ms: if item not in seen:`."""
    return [
        f"line {each.line}, {each.times} times, {show_cost(goal, each.cost)}: {each.text.strip()}"
        for each in lines[:SHOWN]
    ]


def _result(case: Case, failure: Failure | None, *, was_run: bool) -> CaseResult:
    outcome = ("failed" if failure else "passed") if was_run else "missing"
    return CaseResult(id=case.id, outcome=outcome, failure=failure)
