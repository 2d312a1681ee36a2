"""The interval of a gain, and what may pass for one."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from greenloop.core.errors import CannotVerifyError
from greenloop.core.records.goal import Goal, Workload
from greenloop.core.records.problem import Problem
from greenloop.core.records.sandbox import Execution, Limits
from greenloop.core.records.spec import Region, Spec
from greenloop.core.summary import describe_gain
from greenloop.verdict import gain
from greenloop.verdict.inputs import VerificationInputs


def test_the_interval_of_few_pairs_is_their_range():
    found = gain.compare(Goal.TIME, [1.0] * 9, [0.5, 0.4, 0.45, 0.55, 0.5, 0.5, 0.6, 0.5, 0.5])
    assert (found.low, found.ratio, found.high, found.pairs) == (0.4, 0.5, 0.6, 9)
    assert describe_gain(found) == "1.0 s → 500 ms (0.50, 0.40 to 0.60)"


def test_outliers_of_many_pairs_are_left_out():
    found = gain.compare(Goal.TIME, [1.0] * 33, [0.5] * 30 + [9.0, 0.001, 7.0])
    assert (found.low, found.high) == (0.5, 0.5)


@pytest.mark.parametrize("count", gain.LOOKS)
def test_the_interval_holds_the_median_as_often_as_it_says(count):
    dice = random.Random(count)
    samples = [gain.compare(Goal.TIME, [1.0] * count, [dice.random() for _ in range(count)]) for _ in range(4000)]
    assert sum(each.low <= 0.5 <= each.high for each in samples) / 4000 >= gain.CONFIDENCE - 0.01


def test_memory_is_told_in_bytes():
    found = gain.compare(Goal.MEMORY, [2_000_000.0] * 9, [11_400.0] * 9)
    assert describe_gain(found) == "2.0 MB → 11.4 kB (0.01, 0.01 to 0.01)"


class Answering:
    """A session in which every run ends like this."""

    name = "double"

    def __init__(self, outcome: str, seconds: float, **failure: str) -> None:
        phase = {"kind": "phase", "id": "t.py::test_workload_2", "outcome": "passed"}
        call = {**phase, "when": "call", "outcome": outcome, "seconds": seconds, **failure}
        records = ({**phase, "when": "setup"}, call, {**phase, "when": "teardown"})
        begin = {"kind": "begin", "id": "t.py::test_workload_2"}
        self.execution = Execution(records=(begin, *records, {"kind": "finished"}), status=0)

    async def run(self, _run) -> Execution:
        return self.execution


@pytest.mark.parametrize(
    ("session", "seconds_left", "sentence"),
    [
        (Answering("passed", 0.001), 600.0, "What calls f takes 1.0 ms: too little to compare."),
        (
            Answering("passed", 2.0),
            0.0,
            "What calls f takes 0 s, and a candidate needs 18 such runs: more than the 0 s",
        ),
        (Answering("failed", 2.0), 600.0, "What calls f does not run to its end: `f(2)`"),
    ],
)
async def test_a_workload_that_cannot_be_measured_is_told(session, seconds_left, sentence):
    region = Region(path="m.py", qualname="f", start=1, end=2)
    problem = Problem(root=Path("/w"), spec=Spec(), regions=(region,), originals={}, files={})
    inputs = VerificationInputs(
        problem=problem, outcomes={}, limits=Limits(), suite_seconds=1.0, encode=lambda _texts: {}
    )
    workload = Workload(selectors=("t.py",), calls=("f(1)", "f(2)"))
    bench = gain.Bench(inputs=inputs, session=session)
    with pytest.raises(CannotVerifyError) as caught:
        await bench.own_cost(workload, seconds_left)
    assert str(caught.value).startswith(sentence)
