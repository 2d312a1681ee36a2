"""Compares a candidate that passes with the user's own code: what it does on other inputs, and how long it takes.

The machine may be busy, so only seconds of the same moment are compared: each pair runs both, the order alternates,
and the median of the ratios has an interval that assumes nothing about their distribution.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb
from statistics import median

from greenloop.core.errors import CannotVerifyError
from greenloop.core.ports import Session
from greenloop.core.records.goal import Gain, Improvement, Workload
from greenloop.core.records.sandbox import Execution, TestRun
from greenloop.core.records.spec import Case
from greenloop.core.records.verdict import CaseResult, Failure
from greenloop.core.report import case_results, describe_end, passed_seconds
from greenloop.core.summary import describe_gain, show_seconds
from greenloop.specs import goals
from greenloop.verdict.inputs import VerificationInputs, check_sandbox

LOOKS = (9, 17, 33)  # pairs after which the interval is judged
CONFIDENCE = 0.99
LEAST_SECONDS = 0.005  # of the workload; what is shorter disappears in the noise of starting a test
SLOW = "NotFaster"
DIFFERENT = "Different"


async def measure(
    inputs: VerificationInputs, session: Session, files: Mapping[str, str], workload: Workload, *, below: float
) -> Gain | None:
    """Measures the candidate of these changed texts in up to 33 pairs of runs; fewer where the answer is clear.

    `below` is what the interval has to stay under. None: the workload did not run to its end.
    """
    befores: list[float] = []
    afters: list[float] = []
    for pairs in LOOKS:
        while len(befores) < pairs:
            is_new_first = len(befores) % 2 == 1
            first = await _seconds(inputs, session, workload, files if is_new_first else {})
            second = await _seconds(inputs, session, workload, {} if is_new_first else files)
            if first is None or second is None:
                return None
            befores.append(second if is_new_first else first)
            afters.append(first if is_new_first else second)
        gain = compare(befores, afters)
        if gain.high < below or gain.low >= below:
            break
    return gain


async def compare_results(
    inputs: VerificationInputs, session: Session, files: Mapping[str, str], comparison: Workload
) -> Failure | None:
    """Runs the comparison over these changed texts; returns the first difference, or None."""
    execution = await _run(inputs, session, comparison, files)
    if passed_seconds(execution) is not None:
        return None
    failures = [result.failure for result in case_results(execution) if result.failure]
    message = failures[0].message if failures else describe_end(execution) or "The comparison did not run to its end."
    rows = [row for row in message.split("\n") if "differs from before" in row] or message.split("\n")
    said = rows[0].removeprefix("AssertionError: ")
    return Failure(type=DIFFERENT, message=said, text=said)


async def own_seconds(inputs: VerificationInputs, session: Session, workload: Workload) -> float:
    """Returns the seconds of the workload with the user's own code.

    Raises `CannotVerifyError` where it does not run to its end, or is too short to compare.
    """
    seconds = await _seconds(inputs, session, workload, {})
    name = inputs.problem.regions[0].qualname
    if seconds is None:
        raise CannotVerifyError(
            f"The calls of {name} that are to be measured do not run to their end.",
            remedy="Correct them in the file of --inputs, or leave that out.",
        )
    if seconds < LEAST_SECONDS:
        raise CannotVerifyError(
            f"What calls {name} takes {show_seconds(seconds)}: too short to compare.",
            remedy=f"Name a file with calls of {name} that take longer, one in each line: --inputs FILE.",
        )
    return seconds


async def _seconds(
    inputs: VerificationInputs, session: Session, workload: Workload, files: Mapping[str, str]
) -> float | None:
    """Returns the seconds of the cases' call phases over these changed texts; None where one did not pass."""
    return passed_seconds(await _run(inputs, session, workload, files))


async def _run(
    inputs: VerificationInputs, session: Session, workload: Workload, files: Mapping[str, str]
) -> Execution:
    problem = inputs.problem
    added = {path: text.encode() for path, text in workload.files.items()}
    run = TestRun(
        selectors=workload.selectors,
        files={**problem.buffers, **inputs.generated_files, **added, **inputs.encode(files)},
        seconds=inputs.limits.seconds,
    )
    execution = await session.run(run)
    check_sandbox(execution)
    return execution


def compare(befores: Sequence[float], afters: Sequence[float]) -> Gain:
    """Returns the gain of paired seconds.

    The interval of the median is that of its order statistics (Conover, Practical Nonparametric Statistics, 1999).
    """
    ratios = sorted(after / before for before, after in zip(befores, afters, strict=True))
    cut = _cut(len(ratios))
    return Gain(
        before=median(befores),
        after=median(afters),
        ratio=median(ratios),
        low=ratios[cut],
        high=ratios[-1 - cut],
        pairs=len(ratios),
    )


def _cut(count: int) -> int:
    """Returns how many of the sorted values may be left out at each end."""
    outside, cut = 2 * 0.5**count, 0
    while (wider := outside + 2 * comb(count, cut + 1) * 0.5**count) <= 1 - CONFIDENCE:
        outside, cut = wider, cut + 1
    return cut


def missed(gain: Gain | None, below: float) -> Failure | None:
    """Returns why a measured candidate does not count as faster; None where it does."""
    if gain is None:
        message = "The calls that are to be measured do not run to their end."
    elif gain.high < below:
        return None
    else:
        message = f"{describe_gain(gain)}: less than {below:g} of the time is asked for."
    return Failure(type=SLOW, message=message, text=message)


async def judge(
    inputs: VerificationInputs,
    session: Session,
    files: Mapping[str, str],
    wanted: Improvement,
    *,
    passes: bool,
) -> tuple[list[CaseResult], Gain | None]:
    """Returns the results of the goal's cases, and what was measured; nothing runs where tests fail (not `passes`)."""
    problem, results, gain = inputs.problem, [], None
    is_same = passes
    if wanted.comparison is not None:
        failure = await compare_results(inputs, session, files, wanted.comparison) if passes else None
        is_same = passes and failure is None
        results.append(_result(goals.same_case(problem), failure, was_run=passes))
    if wanted.workload is not None:
        if is_same:
            gain = await measure(inputs, session, files, wanted.workload, below=wanted.below)
        failure = missed(gain, wanted.below) if is_same else None
        results.append(_result(goals.time_case(problem), failure, was_run=is_same))
    return results, gain


def _result(case: Case, failure: Failure | None, *, was_run: bool) -> CaseResult:
    outcome = ("failed" if failure else "passed") if was_run else "missing"
    return CaseResult(id=case.id, outcome=outcome, failure=failure)
