"""Property tests in real walls: in projects without Hypothesis, shrunk, bounded, and told to the model."""

from __future__ import annotations

import random
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from containers import place
from greenloop.core.compose import compose
from greenloop.core.records.attempt import Attempt, Candidate
from greenloop.core.records.model import Reply, Usage
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.verdict import judge
from greenloop.project.settings import SandboxSettings
from greenloop_lab.drafting.feedback import counterexample
from greenloop_lab.specs.kinds import stated_properties
from greenloop_sandbox import Environment, SandboxSpec, TestRun, bundled_hypothesis
from greenloop_sandbox.backends import docker, none
from greenloop_sandbox.backends.bubblewrap import Bubblewrap

STUB = '''def sort(xs: list[int]) -> list[int]:
    """The numbers in rising order.

    >>> sort([3, -1])
    [-1, 3]
    """
    raise NotImplementedError
'''
ANSWER = "length: len(result) == len(xs)\nsteady: sort(result) == result"
DROPS = "def sort(xs):\n    return sorted(set(xs))\n"
GOOD = "def sort(xs):\n    return sorted(xs)\n"
HANGS = "def sort(xs):\n    while len(xs) > 2:\n        pass\n    return sorted(xs)\n"
MEDDLES = (
    "import os\n\ndef sort(xs):\n    try:\n        open(os.environ['GREENLOOP_GUESTS'], 'ab').close()\n"
    "    except OSError:\n        return sorted(xs)\n    return []\n"
)
bubblewrap = pytest.mark.needs("bubblewrap")
pytestmark = pytest.mark.timeout(600)


@pytest.fixture(autouse=True)
def _lent() -> None:
    assert bundled_hypothesis.archive(), (
        "greenloop's own Hypothesis must be of pure Python: pip install -c constraints.txt hypothesis"
    )


@pytest.fixture
def at(bare_environment: Environment, tmp_path: Path) -> SandboxSpec:
    """A project whose Python has no Hypothesis."""
    root = tmp_path / "w"
    root.mkdir()
    return SandboxSpec(root=root, environment=bare_environment)


def problem(at: SandboxSpec, text: str = STUB, name: str = "sort") -> Problem:
    (at.root / "m.py").write_text(text)
    rows = text.split("\n")
    start = next(number for number, row in enumerate(rows, 1) if row.startswith(f"def {name}("))
    region = Region(path="m.py", qualname=name, start=start, end=len(rows) - 1)
    return Problem(root=at.root, spec=Spec(), regions=(region,), originals={"m.py": text}, files={"m.py": text})


class Tried:
    """The properties of a problem in an open session, and verdicts of candidates."""

    def __init__(self, session, asked: Problem, spec: Spec) -> None:
        self.session, self.spec = session, spec
        self.problem = replace(asked, spec=spec)

    async def verdict(self, candidate: str, **more) -> Verdict:
        files = {path: text.encode() for path, text in {**self.spec.files, "m.py": candidate}.items()}
        run = TestRun(selectors=self.spec.selectors, files=files, **{"seconds": 60.0, **more})
        execution = await self.session.run(run)
        return judge([case.id for case in self.spec.cases], {}, execution)

    async def told(self, code: str) -> str:
        """The feedback on a candidate."""
        candidate = Candidate(texts={self.problem.regions[0]: code})
        verdict = await self.verdict(compose(self.problem, candidate)["m.py"])
        attempt = Attempt(number=1, candidate=candidate, verdict=verdict)
        return (await counterexample.describe(self.problem, [attempt], None)).text


@asynccontextmanager
async def opened(sandbox, at: SandboxSpec, asked: Problem, answer: str = ANSWER):
    async def ask(_request):
        return Reply(text=answer, usage=Usage(), model="scripted")

    session = await sandbox.open(at)
    try:
        tools = SimpleNamespace(ask=ask, session=session, rng=random.Random(0))
        yield Tried(session, asked, await stated_properties.collect(asked, tools))
    finally:
        await session.close()


@bubblewrap
async def test_a_sort_that_drops_duplicates_is_told_by_the_property_and_a_minimal_input(at):
    async with opened(Bubblewrap(), at, problem(at)) as tried:
        assert tried.spec.doubts == ()
        good, bad = await tried.verdict(GOOD), await tried.verdict(DROPS)
        assert good.status is Status.PASSED, good
        assert [case.passed for case in bad.cases] == [False, True, True, False], bad
        text = await tried.told(DROPS)
    assert text.startswith("The property `permutation` does not hold: Counter(result) == Counter(xs)")
    assert "smallest input that breaks it: xs = [0, 0]\n  sort gave: [0]" in text
    assert list(at.root.iterdir()) == [at.root / "m.py"]


@bubblewrap
async def test_a_candidate_that_hangs_fails_within_the_limits_and_the_next_one_runs(at):
    async with opened(Bubblewrap(), at, problem(at)) as tried:
        hung = await tried.verdict(HANGS, seconds=3.0)
        assert hung.status is Status.TIMEOUT, hung
        assert not any(case.passed for case in hung.cases)
        assert (await tried.verdict(GOOD)).status is Status.PASSED


@bubblewrap
async def test_a_candidate_cannot_write_to_what_is_lent(at):
    async with opened(Bubblewrap(), at, problem(at)) as tried:
        verdict = await tried.verdict(MEDDLES)
        assert verdict.status is Status.PASSED, verdict


@bubblewrap
async def test_the_same_values_each_time(at):
    async with opened(Bubblewrap(), at, problem(at)) as tried:
        first, second = await tried.verdict(DROPS, hash_seed=0), await tried.verdict(DROPS, hash_seed=1)
    messages = [[case.failure and case.failure.message for case in each.cases] for each in (first, second)]
    assert messages[0] == messages[1]


WHERE = '''import sys


def where(n: int) -> str:
    """Where it comes from."""
    return sys.modules["hypothesis"].__file__
'''


@bubblewrap
async def test_the_projects_own_hypothesis_wins(at):
    asked = problem(at, WHERE, "where")
    async with opened(Bubblewrap(), at, asked, "own: 'guests.zip' not in result") as tried:
        assert "guests.zip" in (await tried.told(WHERE))
    installed = Path(bundled_hypothesis.metadata.distribution("hypothesis").locate_file(""))
    own = replace(at, variables={"PYTHONPATH": str(installed)}, environment=replace(at.environment, extra=(installed,)))
    async with opened(Bubblewrap(), own, asked, "own: 'guests.zip' not in result") as tried:
        verdict = await tried.verdict(WHERE)
    assert verdict.cases[-1].passed, verdict


@bubblewrap
async def test_where_hypothesis_cannot_run_there_are_no_properties_and_a_doubt(at, monkeypatch):
    monkeypatch.setattr(bundled_hypothesis, "archive", lambda: b"")
    async with opened(Bubblewrap(), at, problem(at)) as tried:
        assert tried.spec.cases == ()
        assert tried.spec.doubts == (
            "Property tests are skipped because Hypothesis does not run here: No module named 'hypothesis'.",
        )


CLOSED = '''class Closed:
    def __init__(self, secret):
        raise RuntimeError("not from outside")


def f(thing: Closed, n: int) -> int:
    """Something."""
    raise NotImplementedError
'''


@bubblewrap
async def test_values_that_hypothesis_cannot_build_are_a_doubt(at):
    async with opened(Bubblewrap(), at, problem(at, CLOSED, "f")) as tried:
        assert tried.spec.cases == ()
        assert tried.spec.doubts == ("No values can be made up for `thing`, so no properties are tried.",)


RECORDS = '''import enum
from dataclasses import dataclass


class Color(enum.Enum):
    RED = 1
    BLUE = 2


@dataclass
class Point:
    x: int
    color: Color


def paint(points: list[Point], color: Color) -> list[Point]:
    """All points in one colour."""
    raise NotImplementedError
'''


@bubblewrap
async def test_classes_of_the_project_are_built_inside(at):
    asked = problem(at, RECORDS, "paint")
    async with opened(Bubblewrap(), at, asked, "painted: all(p.color == color for p in result)") as tried:
        assert tried.spec.doubts == ()
        text = await tried.told("def paint(points, color):\n    return points\n")
    assert "points = [Point(x=0, color=Color.RED)], color = Color.BLUE" in text or "Color.RED" in text, text


async def test_properties_run_without_a_wall(at):
    sandbox = none.create(SandboxSettings(unsafe=True))
    async with opened(sandbox, at, problem(at)) as tried:
        good, bad = await tried.verdict(GOOD), await tried.verdict(DROPS)
    assert good.status is Status.PASSED, good
    assert [case.passed for case in bad.cases] == [False, True, True, False]


@pytest.mark.needs("docker")
@pytest.mark.timeout(900)
async def test_properties_run_in_a_container(at):
    where = place(at.root)
    async with opened(docker.create(SandboxSettings()), where, problem(at)) as tried:
        assert tried.spec.doubts == ()
        good, bad, meddled = await tried.verdict(GOOD), await tried.verdict(DROPS), await tried.verdict(MEDDLES)
        text = await tried.told(DROPS)
    assert good.status is Status.PASSED, good
    assert meddled.status is Status.PASSED, meddled
    assert [case.passed for case in bad.cases] == [False, True, True, False]
    assert "xs = [0, 0]" in text
