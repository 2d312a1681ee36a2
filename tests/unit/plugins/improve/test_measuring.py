"""Workloads that cannot be measured, and how the two versions are laid over the project."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from greenloop.core.errors import CannotVerifyError
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Provenance, Region, Spec
from greenloop.core.verification_inputs import VerificationInputs
from greenloop.plugins.improve import measuring
from greenloop.plugins.improve.aims import Goal
from greenloop.plugins.improve.records import Gain, Workload
from greenloop.plugins.improve.wording import describe_gain
from greenloop_sandbox import Costs, Execution, Limits


class Answering:
    """A session in which every run ends like this."""

    name = "double"

    def __init__(self, outcome: str, seconds: float, **failure: str) -> None:
        phase = {"kind": "phase", "id": "t.py::test_workload_2", "outcome": "passed"}
        call = {**phase, "when": "call", "outcome": outcome, "seconds": seconds, **failure}
        records = ({**phase, "when": "setup"}, call, {**phase, "when": "teardown"})
        begin = {"kind": "begin", "id": "t.py::test_workload_2"}
        self.execution = Execution(records=(begin, *records, {"kind": "finished"}), status=0, costs=self.costs(seconds))

    @staticmethod
    def costs(seconds: float, passes: int = 1) -> Costs:
        return Costs(calls=(seconds,) * passes, imports=0.01, fixtures=0.01, elapsed=0.1, processor=0.1, peak=1 << 30)

    @classmethod
    def killed(cls) -> Answering:
        session = cls("failed", 2.0)
        session.execution = Execution(records=session.execution.records[:1], killed="timeout", seconds=10.0)
        return session

    async def run(self, run) -> Execution:
        costs = self.execution.costs
        return replace(self.execution, costs=costs and self.costs(costs.calls[0], run.passes or 1))


@pytest.mark.parametrize(
    ("session", "seconds_left", "sentence"),
    [
        (Answering("passed", 0.001), 600.0, "What calls f takes 1.0 ms: too little to compare."),
        (
            Answering("passed", 2.0),
            0.0,
            "What calls f takes 0 s, and a candidate needs 30 such runs: more than the 0 s",
        ),
        (Answering("failed", 2.0), 600.0, "What calls f does not run to its end: `t.py::test_workload_2`"),
    ],
)
async def test_a_workload_that_cannot_be_measured_is_told(session, seconds_left, sentence):
    assert str(await complaint(session, seconds_left)).startswith(sentence)


async def complaint(
    session: Answering, seconds_left: float, *calls: str, origin: Provenance = Provenance.USER
) -> CannotVerifyError:
    """What is said of the user's own code where every run of its calls ends as in this session."""
    region = Region(path="m.py", qualname="f", start=1, end=2)
    case = Case(id="t.py::test_workload_2", path="t.py", line=1, provenance=origin)
    problem = Problem(root=Path("/w"), spec=Spec(cases=(case,)), regions=(region,), originals={}, files={})
    inputs = VerificationInputs(
        problem=problem, outcomes={}, limits=Limits(), suite_seconds=1.0, encode=lambda _texts: {}
    )
    with pytest.raises(CannotVerifyError) as caught:
        await measuring.Bench(inputs=inputs, session=session).calibrate(
            Workload(selectors=("t.py",), calls=calls), seconds_left
        )
    return caught.value


FAILING = Answering("failed", 2.0)


@pytest.mark.parametrize(
    ("session", "calls", "origin", "remedy"),
    [
        (FAILING, ("f(1)", "f(2)"), Provenance.USER, "Correct it in the file of --inputs, or leave it out."),
        (FAILING, (), Provenance.USER, "It passed before: make the test repeatable (no random numbers, "),
        (FAILING, (), Provenance.TRACE, "It passed before: make the recorded call of `spec.trace` repeatable"),
        (FAILING, (), Provenance.DOCTEST, "It passed before: make the example in the docstring repeatable"),
        (FAILING, (), Provenance.EXAMPLE, "It passed before: make the example in the docstring repeatable"),
        (Answering.killed(), ("f(1)", "f(2)"), Provenance.USER, "Give it more: --set sandbox.seconds=60"),
        (Answering.killed(), (), Provenance.USER, "Give it more: --set sandbox.seconds=60"),
        (Answering("passed", 0.001), (), Provenance.USER, "Name a file with calls of f that take more"),
        (Answering("passed", 0.001), ("f(1)",), Provenance.USER, "Change the calls in the file of --inputs"),
    ],
)
async def test_the_remedy_is_that_of_the_source_of_the_calls(session, calls, origin, remedy):
    said = (await complaint(session, 600.0, *calls, origin=origin)).remedy
    assert said.startswith(remedy)
    assert ("in the file of --inputs" in said) is (bool(calls) and session.execution.killed == "")


class Remembering(Answering):
    """It remembers which files the runs had."""

    def __init__(self) -> None:
        super().__init__("passed", 1.0)
        self.files: list[dict[str, bytes]] = []

    async def run(self, run) -> Execution:
        self.files.append(dict(run.files))
        return await super().run(run)


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
    found = await measuring.Bench(inputs=inputs, session=session).measure(
        {"m.py": "new"}, Workload(selectors=("t.py",)), below=0.9
    )
    assert isinstance(found, Gain)
    assert sorted(files["m.py"] for files in session.files) == [b"new"] * found.pairs + [b"old"] * found.pairs


class Costing(Answering):
    """It tells the seconds, and the bytes, that are named in the file `m.py` of the run."""

    async def run(self, run) -> Execution:
        seconds, most = run.files["m.py"].decode().split()
        execution = Answering("passed", float(seconds)).execution
        records = (*execution.records, {"kind": "profile", "peak": int(most)})
        costs = replace(self.costs(float(seconds), run.passes), peak=int(most))
        return Execution(records=records if run.profile else records[:-1], status=0, costs=costs)


async def measure_change(old: str, new: str, memory: float) -> Gain:
    region = Region(path="m.py", qualname="f", start=1, end=2)
    problem = Problem(root=Path("/w"), spec=Spec(), regions=(region,), originals={}, files={"m.py": old})
    inputs = VerificationInputs(
        problem=problem,
        outcomes={},
        limits=Limits(),
        suite_seconds=1.0,
        encode=lambda texts: {path: text.encode() for path, text in texts.items()},
    )
    bench = measuring.Bench(inputs=inputs, session=Costing("passed", 1.0), memory=memory)
    found = await bench.measure({"m.py": new}, Workload(selectors=("t.py",)), below=0.9)
    assert isinstance(found, Gain)
    assert not found.refused
    return found


@pytest.mark.parametrize(
    ("new", "memory", "ratio"),
    [
        ("0.5 8000000", 0.0, 0.5),  # faster, and twice the memory
        ("0.5 8000000", 0.5, 1.0),
        ("0.5 8000000", 0.2, 0.5**0.8 * 2**0.2),
        ("1.0 1000000", 0.5, 0.5),  # as fast, with a quarter of the memory
        ("0.5 1000", 0.5, (0.5 / 40) ** 0.5),  # below 100 kB memory is that of starting a test
    ],
)
async def test_memory_has_its_share_in_what_is_measured(new, memory, ratio):
    found = await measure_change("1.0 4000000", new, memory)
    assert found.ratio == pytest.approx(ratio)
    assert (found.high < 0.9) is (ratio < 0.9)
    seconds, most = map(float, new.split())
    assert (found.goal, found.before, found.after) == (Goal.TIME, 1.0, seconds)
    assert (found.bytes_before, found.bytes_after) == ((4e6, most) if memory else (0.0, 0.0))
    if memory == 0.2:
        assert describe_gain(found) == "1.0 s → 500 ms and 4.0 MB → 8.0 MB (0.66, 0.66 to 0.66)"


async def test_calls_are_repeated_as_often_as_takes_a_while():
    region = Region(path="m.py", qualname="f", start=1, end=2)
    problem = Problem(root=Path("/w"), spec=Spec(), regions=(region,), originals={}, files={})
    inputs = VerificationInputs(
        problem=problem, outcomes={}, limits=Limits(), suite_seconds=1.0, encode=lambda _texts: {}
    )
    for seconds, repeats in ((0.005, 4), (0.1, 1)):
        bench = measuring.Bench(inputs=inputs, session=Answering("passed", seconds))
        workload, cost = await bench.calibrate(Workload(selectors=("t.py",)), 600.0)
        assert (workload.repeats, cost) == (repeats, seconds)


async def test_a_candidate_whose_calls_fail_is_told_which_one():
    region = Region(path="m.py", qualname="f", start=1, end=2)
    problem = Problem(root=Path("/w"), spec=Spec(), regions=(region,), originals={}, files={"m.py": "old"})
    inputs = VerificationInputs(
        problem=problem, outcomes={}, limits=Limits(), suite_seconds=1.0, encode=lambda _texts: {}
    )
    bench = measuring.Bench(inputs=inputs, session=Answering("failed", 2.0, type="ValueError", message="no"))
    said = await bench.measure({"m.py": "new"}, Workload(selectors=("t.py",), calls=("f(1)", "f(2)")), below=0.9)
    assert said == "`f(2)`: ValueError: no"
