"""Judges a candidate that passes by its goal: does it do the same on other inputs, and does it cost less?

Where it does not cost less, the reason tells what its lines cost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from greenloop.core.records.spec import Case
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.requirements import Ruling, Trial
from greenloop.core.text.json_codec import to_json
from greenloop.plugins.improve import workloads
from greenloop.plugins.improve.aims import Goal
from greenloop.plugins.improve.comparison import EFFECTS, ENOUGH, FIRST, RECORDED, Comparison
from greenloop.plugins.improve.measuring import Bench
from greenloop.plugins.improve.records import Gain, Improvement, ProfiledLine, Workload
from greenloop.plugins.improve.wording import describe_gain, show_cost
from greenloop_sandbox import CaseResult, Failure, all_passed, case_results
from greenloop_sandbox.report.cases import describe_end

TYPES = {Goal.TIME: "NotFaster", Goal.MEMORY: "NotSmaller"}
DIFFERENT = "Different"
SHOWN = 5  # lines that cost most
KEPT = 40  # of them, as evidence
COMPARING = 40.0  # seconds of wall time for a comparison, beyond those of the tests


async def judge(wanted: Improvement, trial: Trial, tests: Verdict) -> Ruling:
    """Returns the results of the goal's cases, and what was measured; nothing runs where tests fail."""
    assert trial.session is not None
    passes, files = tests.status is Status.PASSED, trial.changed
    bench = Bench(inputs=trial.inputs, session=trial.session, goal=wanted.goal, memory=wanted.memory)
    problem, results, gain = trial.problem, [], None
    is_same = passes
    if wanted.comparison is not None:
        failure = await compare_results(bench, files, wanted.comparison) if passes else None
        is_same = passes and failure is None
        results.append(_result(workloads.same_case(problem), failure, was_run=passes))
    if wanted.workload is not None:
        failure = None
        if is_same:
            measured = await bench.measure(files, wanted.workload, below=wanted.below)
            gain = measured if isinstance(measured, Gain) else None
            failure = await _missed_gain(bench, files, wanted.workload, measured, wanted.below)
        results.append(_result(workloads.gain_case(problem, wanted.goal), failure, was_run=is_same))
        if trial.is_final and gain is not None and failure is None:
            gain = await _with_profiles(replace(bench, memory=0.0), trial, wanted.workload, gain)
    return Ruling(results=results, data=to_json(gain) if gain is not None else {})


async def try_comparison(bench: Bench, found: Comparison) -> tuple[Workload | None, str]:
    """Runs the comparison of the user's own code with itself; returns the tests that hold, and what they leave open.

    None where nothing can be compared. What is left open: "" where neither chance nor effects beyond the results play a
    part.
    """
    first, enough, effects = map(found.id_of, (FIRST, ENOUGH, EFFECTS))
    wanted = (found.id_of(RECORDED), *found.alone)
    for kept in dict.fromkeys((wanted, found.alone)):  # the user's tests may not bear to be recorded
        workload = found.workload((*kept, first, effects))
        execution = await bench.run(workload, {}, more_seconds=COMPARING)
        results = {each.id: each for each in case_results(execution)}
        tests_pass = all(each.passed for each in results.values() if not each.id.startswith(found.path))
        if tests_pass and all(each in results and results[each].outcome != "missing" for each in kept):
            break
    said = {each: _said(results[each]) for each in (*kept, enough, effects) if each in results}
    held = [each for each in (*kept, first) if each in results and results[each].passed]
    differing = next((said[each] for each in kept if "differs from before" in said.get(each, "")), "")
    if execution.killed == "timeout":
        seconds = f"{_comparing_seconds(bench):.0f} s"
        held, doubt = [], f"the comparison did not end in {seconds} (`sandbox.seconds` gives it more)"
    elif differing:
        doubt = f"your own code does not do the same twice ({differing[:200]})"
    elif said.get(enough, "the comparison does not run to its end"):
        held, doubt = [], found.reason or said.get(enough, "the comparison does not run to its end")
    else:
        doubt = said.get(effects, "")
    return (found.workload(held) if {*held} & {*kept} else None), doubt


def _said(result: CaseResult) -> str:
    """The first line of a failed comparison."""
    message = result.failure.message if result.failure else ""
    rows = [row for row in message.split("\n") if "differs from before" in row] or message.split("\n")
    return rows[0].removeprefix("AssertionError: ")


async def _with_profiles(bench: Bench, trial: Trial, workload: Workload, gain: Gain) -> Gain:
    """Returns the gain with what the lines of the user's own code and of the candidate cost, if there is time."""
    with suppress(TimeoutError):
        async with trial.deadline.limit():
            before, after = [await bench.profile(each, workload) for each in ({}, trial.changed)]
            return replace(gain, lines_before=before[:KEPT], lines_after=after[:KEPT])
    return gain


async def compare_results(bench: Bench, files: Mapping[str, str], comparison: Workload) -> Failure | None:
    """Runs the comparison over these changed texts; returns the first difference, or None."""
    execution = await bench.run(comparison, files, more_seconds=COMPARING)
    if all_passed(execution):
        return None
    if execution.killed == "timeout":
        said = (
            f"On inputs beyond the tests it did not end in {_comparing_seconds(bench):.0f} s, and your own code did. "
            "Where only the machine was busy, `sandbox.seconds` gives it more."
        )
        return Failure(type="Timeout", message=said, text=said)
    failed = next((result for result in case_results(execution) if result.failure), None)
    said = _said(failed) if failed else describe_end(execution) or "The comparison did not run to its end."
    return Failure(type=DIFFERENT, message=said, text=said)


def _comparing_seconds(bench: Bench) -> float:
    """Returns how long a comparison may take."""
    return bench.inputs.limits.seconds + COMPARING


async def _missed_gain(
    bench: Bench, files: Mapping[str, str], workload: Workload, measured: Gain | str, below: float
) -> Failure | None:
    """Returns why a measured candidate does not cost less, with its most expensive lines; None if it does."""
    if isinstance(measured, str):
        message = f"The calls that are to be measured do not run to their end: {measured}"
    elif measured.high >= below:
        message = f"{describe_gain(measured)}: less than {below:g} of it is asked for."
        message = "\n".join([message, *await describe_profile(bench, files, workload)])
    elif measured.refused:
        message = f"{describe_gain(measured)} is not believed: {measured.refused}."
    else:
        return None
    return Failure(type=TYPES[bench.goal], message=message, text=message)


async def describe_profile(bench: Bench, files: Mapping[str, str], workload: Workload) -> list[str]:
    """The lines that cost most over these changed texts; those that need most memory, too, where it has a share."""
    rows = describe_costs(await bench.profile(files, workload), bench.goal)
    if bench.memory:
        by_memory = replace(bench, goal=Goal.MEMORY)
        rows += describe_costs(await by_memory.profile(files, workload), Goal.MEMORY)
    return rows


def describe_costs(lines: Sequence[ProfiledLine], goal: Goal) -> list[str]:
    """The lines that cost most, each with its text: `line 4, 6000 times, 41 ms: if item not in seen:`."""
    return [
        f"line {each.line}, {each.times} times, {show_cost(goal, each.cost)}: {each.text.strip()}"
        for each in lines[:SHOWN]
    ]


def _result(case: Case, failure: Failure | None, *, was_run: bool) -> CaseResult:
    outcome = ("failed" if failure else "passed") if was_run else "missing"
    return CaseResult(id=case.id, outcome=outcome, failure=failure)
