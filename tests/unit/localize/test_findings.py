"""What a report needs is gathered in one more run; where that fails, the report is shorter, and nothing ends."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from greenloop.core.errors import CannotVerifyError
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.run_state import Baseline
from greenloop.localize.findings import MOST_INSPECTED, find_siblings, findings_of, gather_findings, with_siblings
from greenloop_sandbox import CaseResult, Environment, Execution, Failure, Frame

PREFIX = Path("/usr")
ENVIRONMENT = Environment(
    executable=PREFIX / "bin/python3", prefix=PREFIX, base=PREFIX, version=(3, 11), source="PATH", has_pytest=True
)
STUB = "def f():\n    raise NotImplementedError\n"
PROBLEM = Problem(
    root=Path("/w"),
    spec=Spec(files={"gen.py": "x = 1\n"}),
    regions=(Region(path="m.py", qualname="f", start=1, end=2, created=True),),
    originals={"m.py": None, "n.py": "a = 1\n"},
    files={"m.py": STUB, "n.py": "a = 1\n"},
)


def result(name, outcome="failed", line=7, path="tests/t.py", **more):
    failure = (
        None
        if outcome == "passed"
        else Failure(type="E", message="", frames=(Frame(path="m.py", line=line, function="f"),))
    )
    return CaseResult(id=f"{path}::{name}", outcome=outcome, failure=failure, **more)


@pytest.fixture
def context():
    """A context whose runs describe every case that they were asked for; `asked` has these runs."""

    async def run(selectors, files, **kind):
        made.asked.append((list(selectors), files))
        if made.error:
            raise made.error
        records = [
            {"kind": "inspection", "id": each, "when": "call", "chain": [], "values": [], "sections": []}
            for each in selectors
        ]
        return Execution(records=tuple(records))

    made: Any = SimpleNamespace(
        run=run,
        asked=[],
        error=None,
        patterns=("test_*.py", "t.py"),
        session=SimpleNamespace(name="bubblewrap"),
        place=SimpleNamespace(image="", environment=ENVIRONMENT),
        snapshot=SimpleNamespace(text={}.get),
    )
    return made


async def test_failing_cases_and_one_sibling_are_described_over_the_stubs(context):
    cases = [result("ok", "passed"), *(result(f"bad{number}") for number in range(9))]
    siblings = [result("s1"), result("s2")]
    others = [result("other", line=8)]
    results = {each.id: each for each in (*cases, *siblings, *others, result("good", "passed"))}
    found = await gather_findings(context, PROBLEM, cases, results, reasons={PROBLEM.regions[0]: "why"})
    ((selectors, files),) = context.asked
    assert selectors == [*(f"tests/t.py::bad{number}" for number in range(MOST_INSPECTED)), "tests/t.py::s1"]
    assert files == {"m.py": STUB, "gen.py": "x = 1\n"}
    assert set(found.inspected) == set(selectors)
    assert (found.versions, found.siblings, found.others) == ("It runs on Python 3.11.", siblings, others)
    assert found.reasons == {PROBLEM.regions[0]: "why"}


async def test_cases_that_hang_or_end_the_process_are_not_run_again(context):
    hangs = replace(result("hangs"), failure=Failure(type="Timeout", message=""))
    found = await gather_findings(context, PROBLEM, [hangs, result("bad")], {})
    assert [selectors for selectors, _files in context.asked] == [["tests/t.py::bad"]]
    found = await gather_findings(context, PROBLEM, [hangs], {})
    assert found.inspected == {}
    assert len(context.asked) == 1


async def test_a_sandbox_that_breaks_leaves_the_report_shorter(context):
    context.error = CannotVerifyError("no disk")
    found = await gather_findings(context, PROBLEM, [result("bad")], {})
    assert found.inspected == {}
    assert found.versions == "It runs on Python 3.11."


async def test_a_container_of_the_user_says_nothing_of_versions(context):
    context.session.name, context.place.image = "docker 27", "their:image"
    found = await gather_findings(context, PROBLEM, [result("bad")], {})
    assert found.versions == ""


RESULTS = {
    each.id: each
    for each in (
        result("a"),
        result("same"),
        result("other", line=8),
        result("good", "passed"),
        result("same", path="tests/far.py"),
    )
}


def test_siblings_are_in_the_files_of_the_target(context):
    assert [each.id for each in find_siblings(context, [RESULTS["tests/t.py::a"]], RESULTS)] == ["tests/t.py::same"]


async def test_a_baseline_knows_its_siblings_and_its_findings_describe_one(context):
    verdict = Verdict(status=Status.FAILED, cases=(RESULTS["tests/t.py::a"],))
    baseline = Baseline(
        problem=PROBLEM,
        attempt=Attempt(number=0, verdict=verdict),
        outcomes={},
        measurement=SimpleNamespace(results=RESULTS),
    )
    known = with_siblings(baseline, context)
    assert known.problem.siblings == ("tests/t.py::same",)
    found = await findings_of(context, known, known.problem)
    assert [each.id for each in found.siblings] == ["tests/t.py::same"]
    assert set(found.inspected) == {"tests/t.py::a", "tests/t.py::same"}
