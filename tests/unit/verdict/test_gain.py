"""Workloads that cannot be measured, and how the two versions are laid over the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from greenloop.core.errors import CannotVerifyError
from greenloop.core.records.goal import Workload
from greenloop.core.records.problem import Problem
from greenloop.core.records.sandbox import Execution, Limits
from greenloop.core.records.spec import Region, Spec
from greenloop.verdict import gain
from greenloop.verdict.inputs import VerificationInputs


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
            "What calls f takes 0 s, and a candidate needs 30 such runs: more than the 0 s",
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


class Remembering(Answering):
    """It remembers which files the runs had."""

    def __init__(self) -> None:
        super().__init__("passed", 1.0)
        self.files: list[dict[str, bytes]] = []

    async def run(self, run) -> Execution:
        self.files.append(dict(run.files))
        return self.execution


async def test_both_versions_are_laid_over_the_project():
    """What is compiled anew must not cost the new version more than the old one, whose compiled file is at hand."""
    region = Region(path="m.py", qualname="f", start=1, end=2)
    problem = Problem(root=Path("/w"), spec=Spec(), regions=(region,), originals={}, files={"m.py": "old"})
    inputs = VerificationInputs(
        problem=problem,
        outcomes={},
        limits=Limits(),
        suite_seconds=1.0,
        encode=lambda texts: {path: text.encode() for path, text in texts.items()},
    )
    session = Remembering()
    found = await gain.Bench(inputs=inputs, session=session).measure(
        {"m.py": "new"}, Workload(selectors=("t.py",)), below=0.9
    )
    assert found is not None
    assert sorted(files["m.py"] for files in session.files) == [b"new"] * found.pairs + [b"old"] * found.pairs
