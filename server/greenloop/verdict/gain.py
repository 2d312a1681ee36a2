"""Measures how much faster a candidate is than the user's own code, by running both in turns.

The machine may be busy, so only seconds of the same moment are compared: each pair runs both, the order alternates,
and the median of the ratios has an interval that assumes nothing about their distribution.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb
from statistics import median

from greenloop.core.errors import CannotVerifyError
from greenloop.core.ports import Session
from greenloop.core.records.goal import Gain, Workload
from greenloop.core.records.sandbox import TestRun
from greenloop.core.records.verdict import Failure
from greenloop.core.report import passed_seconds
from greenloop.core.summary import describe_gain, show_seconds
from greenloop.verdict.inputs import VerificationInputs, check_sandbox

LOOKS = (9, 17, 33)  # pairs after which the interval is judged
CONFIDENCE = 0.99
LEAST_SECONDS = 0.005  # of the workload; what is shorter disappears in the noise of starting a test
SLOW = "NotFaster"


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
    problem = inputs.problem
    added = {path: text.encode() for path, text in workload.files.items()}
    run = TestRun(
        selectors=workload.selectors,
        files={**problem.buffers, **inputs.generated_files, **added, **inputs.encode(files)},
        seconds=inputs.limits.seconds,
    )
    execution = await session.run(run)
    check_sandbox(execution)
    return passed_seconds(execution)


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
