"""What a model is told of code that costs too much."""

from __future__ import annotations

from pathlib import Path

from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region, Spec
from greenloop.core.verification_inputs import VerificationInputs
from greenloop.plugins.improve import judging, measuring
from greenloop.plugins.improve.aims import Goal
from greenloop.plugins.improve.comparison import Comparison
from greenloop.plugins.improve.records import Workload
from greenloop_sandbox import Execution, Limits
from greenloop_sandbox.report.traces import LineCost

TEXT = "def f(items):\n    seen = []\n    for item in items:\n        if item not in seen:\n            seen.append(item)\n"
COSTS = {
    2: LineCost(times=1, seconds=0.0, bytes=56),
    3: LineCost(times=6001, seconds=0.001, bytes=0),
    4: LineCost(times=6000, seconds=0.061, bytes=0),
    5: LineCost(times=3000, seconds=0.0005, bytes=250_000),
    900: LineCost(times=1, seconds=9.0, bytes=9),  # a line that the text does not have
}


def describe(goal):
    return judging.describe_costs(measuring.profiled_lines(COSTS, TEXT, goal), goal)


def test_the_dearest_lines_come_first_with_their_text():
    assert describe(Goal.TIME) == [
        "line 4, 6000 times, 61 ms: if item not in seen:",
        "line 3, 6001 times, 1.0 ms: for item in items:",
        "line 5, 3000 times, 0.5 ms: seen.append(item)",
    ]


def test_memory_has_an_order_of_its_own():
    assert describe(Goal.MEMORY) == [
        "line 5, 3000 times, 0.2 MB: seen.append(item)",
        "line 2, 1 times, 0.1 kB: seen = []",
    ]


class OutOfTime:
    """A session in which every run is ended by its limit, in the test that makes up inputs."""

    name = "double"

    async def run(self, _run) -> Execution:
        begin = {"kind": "begin", "id": "same.py::test_same_made_up"}
        return Execution(records=(begin,), killed="timeout", seconds=50.0)


def out_of_time() -> measuring.Bench:
    region = Region(path="m.py", qualname="f", start=1, end=2)
    problem = Problem(root=Path("/w"), spec=Spec(), regions=(region,), originals={}, files={})
    inputs = VerificationInputs(
        problem=problem, outcomes={}, limits=Limits(seconds=10), suite_seconds=1.0, encode=lambda _texts: {}
    )
    return measuring.Bench(inputs=inputs, session=OutOfTime())


async def test_a_comparison_with_itself_that_runs_out_of_time_is_told_as_that():
    made_up = ("same.py::test_same_made_up",)
    comparison = Comparison(path="same.py", files={}, tests=(), alone=made_up, reason="of no interest here")
    kept, doubt = await judging.try_comparison(out_of_time(), comparison)
    assert kept is None
    assert doubt == "the comparison did not end in 50 s (`sandbox.seconds` gives it more)"


async def test_a_candidate_whose_comparison_runs_out_of_time_is_refused_for_its_time():
    failure = await judging.compare_results(out_of_time(), {}, Workload(selectors=()))
    assert failure is not None
    assert failure.type == "Timeout"
    assert failure.message.startswith("On inputs beyond the tests it did not end in 50 s, and your own code did.")
    assert "`sandbox.seconds` gives it more" in failure.message
