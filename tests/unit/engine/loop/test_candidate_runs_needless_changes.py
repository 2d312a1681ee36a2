"""What an answer changed beside the fault is taken back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from greenloop.core.compose import compose
from greenloop.core.records.attempt import Attempt, Candidate
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Provenance, Region, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.engine.loop.candidate_runs import without_needless
from greenloop_sandbox import CaseResult

CASE = Case(id="test_m.py::test_it", path="test_m.py", line=3)
FIRST, SECOND, STUB = (
    Region(path="m.py", qualname=name, start=start, end=start + 1) for name, start in (("f", 1), ("g", 5), ("h", 9))
)
SOURCE = "def f():\n    return 1\n\n\ndef g():\n    return 2\n\n\ndef h():\n    raise NotImplementedError\n"
PROBLEM = Problem(
    root=Path("/w"),
    spec=Spec(cases=(CASE,), selectors=(CASE.id,)),
    regions=(FIRST, SECOND, STUB),
    originals={"m.py": SOURCE},
    files={"m.py": SOURCE},
)
TEXTS = {
    FIRST: "def f():\n    return int(math.pi)\n",
    SECOND: "def g():\n    return len(os.sep) + 1 and two()\n",
    STUB: "def h():\n    return 4\n",
}


class Runs:
    """Runs that pass where the files hold what the tests need; everything is counted."""

    def __init__(self, *needed: str, slowly: bool = True, red: str = "") -> None:
        self.needed, self.slowly, self.red, self.glances, self.verifications = needed, slowly, red, 0, 0

    def judge(self, files, *, passes: bool = True) -> Verdict:
        good = passes and all(each in files["m.py"] for each in self.needed)
        outcome = "passed" if good else "failed"
        status = Status.PASSED if good else Status.FAILED
        return Verdict(status=status, cases=(CaseResult(id=CASE.id, outcome=outcome),), seconds=1.0)

    async def glance(self, files) -> Verdict:
        self.glances += 1
        return self.judge(files)

    async def verify(self, files) -> Verdict:
        self.verifications += 1
        still_red = ("test_m.py::test_other",) if self.red and self.red not in files["m.py"] else ()
        return replace(self.judge(files, passes=self.slowly), still_red=still_red)


def passing(**fields) -> Attempt:
    candidate = Candidate(texts=TEXTS, imports=("import math", "import os"), helpers=("def two():\n    return 2\n",))
    verdict = Verdict(status=Status.PASSED, cases=(CaseResult(id=CASE.id, outcome="passed"),), **fields)
    return Attempt(number=1, verdict=verdict, candidate=candidate)


async def test_a_function_that_no_test_needs_changed_stays_as_it_was_with_its_imports_and_helpers():
    runs = Runs("math.pi")
    attempt = await without_needless(PROBLEM, passing(), runs.glance, runs.verify)
    assert attempt.candidate.texts == {FIRST: TEXTS[FIRST], STUB: TEXTS[STUB]}
    text = compose(PROBLEM, attempt.candidate)["m.py"]
    assert "import math" in text
    assert not any(each in text for each in ("import os", "two", "len"))
    assert attempt.usage.test_seconds == 1.0


async def test_what_the_tests_need_stays():
    runs = Runs("math.pi", "len")
    attempt = await without_needless(PROBLEM, passing(), runs.glance, runs.verify)
    assert (attempt, runs.glances, runs.verifications) == (passing(), 2, 0)


async def test_related_tests_may_need_it():
    runs = Runs("math.pi", slowly=False)
    attempt = await without_needless(PROBLEM, passing(), runs.glance, runs.verify)
    assert (attempt, runs.verifications) == (passing(), 1)


async def test_what_mends_another_red_test_of_the_file_stays():
    runs = Runs("math.pi", red="len")
    attempt = await without_needless(PROBLEM, passing(), runs.glance, runs.verify)
    assert (attempt, runs.verifications) == (passing(), 1)


async def test_the_last_change_stays():
    attempt = passing()
    only = replace(attempt, candidate=Candidate(texts={SECOND: TEXTS[SECOND]}))
    runs = Runs()
    assert await without_needless(PROBLEM, only, runs.glance, runs.verify) == only
    assert not runs.glances


@pytest.mark.parametrize(
    ("problem", "fields"),
    [
        (replace(PROBLEM, instruction="rename x in both"), {}),
        (replace(PROBLEM, spec=replace(PROBLEM.spec, cases=(CASE, replace(CASE, provenance=Provenance.DESIGNED)))), {}),
        (PROBLEM, {"data": {"improve": {"ratio": 2.0}}}),
    ],
)
async def test_everything_stays_where_more_is_wanted_than_the_tests(problem, fields):
    runs = Runs()
    attempt = passing(**fields)
    assert await without_needless(problem, attempt, runs.glance, runs.verify) == attempt
    assert not runs.glances
