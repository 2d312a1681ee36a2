"""An answer that fails as it was asked for is run with all that it changes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from greenloop.core.compose import compose
from greenloop.core.records.attempt import Attempt, Draft, Move
from greenloop.core.records.model import Role
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Region, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.drafting.candidates.answers.parse_answer import read_all
from greenloop.engine.loop.candidate_runs import CandidateRuns, Proposal, check_wider
from greenloop_sandbox import CaseResult

CASES = tuple(Case(id=f"test_m.py::{name}", path="test_m.py", line=1) for name in "abc")
SOURCE = "RATE = 1\n\n\ndef f():\n    return RATE\n\n\ndef g():\n    return f()\n"
REGION = Region(path="m.py", qualname="g", start=8, end=9)
PROBLEM = Problem(
    root=Path("/w"),
    spec=Spec(cases=CASES, selectors=tuple(case.id for case in CASES)),
    regions=(REGION,),
    originals={"m.py": SOURCE},
    files={"m.py": SOURCE},
)
WHOLE = "RATE = 2\n\n\ndef f():\n    return RATE + 1\n\n\ndef g():\n    return f() * 2\n"


class Runs:
    """Runs that pass one test for each of these texts in the file; what is run is kept."""

    def __init__(self, *needed: str) -> None:
        self.needed, self.texts = needed, []

    async def judge(self, files) -> Verdict:
        self.texts.append(files["m.py"])
        passed = [each in files["m.py"] for each in self.needed]
        cases = tuple(
            CaseResult(id=case.id, outcome="passed" if good else "failed")
            for case, good in zip(CASES, passed, strict=False)
        )
        return Verdict(status=Status.PASSED if all(passed) else Status.FAILED, cases=cases, seconds=1.0)


def attempted(code: str) -> Proposal:
    draft = Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER)
    candidate, *wider = read_all(f"```python\n{code}```", PROBLEM)
    attempt = Attempt(number=1, parent=0, draft=draft, candidate=candidate, verdict=Verdict(status=Status.REFUSED))
    return Proposal(attempt=attempt, wider=check_wider(PROBLEM, attempt, next(iter(wider), None)))


async def run_round(runs: Runs, proposal: Proposal) -> Attempt:
    async def in_order(*_round):
        return ()

    state = SimpleNamespace(problem=PROBLEM, attempts=[Attempt(number=0, verdict=Verdict(status=Status.FAILED))])
    parts = SimpleNamespace(verify=runs.judge, glance=runs.judge, rank=in_order)
    candidates = CandidateRuns(state=state, parts=parts)
    await candidates.run([proposal])
    (result,) = candidates.tested
    return result


async def test_what_passes_as_it_was_asked_for_is_not_read_otherwise():
    runs = Runs("* 2")
    result = await run_round(runs, attempted(WHOLE))
    assert (result.verdict.status, len(runs.texts)) == (Status.PASSED, 1)
    assert "RATE = 1" in runs.texts[0]


async def test_what_fails_so_is_run_with_all_that_the_answer_changes():
    runs = Runs("* 2", "RATE = 2")
    result = await run_round(runs, attempted(WHOLE))
    assert result.verdict.status is Status.PASSED
    text = compose(PROBLEM, result.candidate)["m.py"]
    assert text == WHOLE.replace("RATE + 1", "RATE")  # which no test needs


@pytest.mark.parametrize(
    ("needed", "change"),
    [(("* 2", "no"), "RATE = 2"), (("RATE = 1", "no"), "RATE = 2")],
)
async def test_without_more_tests_that_pass_the_answer_stays_as_it_was_asked_for(needed, change):
    runs = Runs(*needed)
    result = await run_round(runs, attempted(WHOLE))
    assert result.verdict.status is Status.FAILED
    assert len(runs.texts) == 2
    assert change not in compose(PROBLEM, result.candidate)["m.py"]


async def test_an_answer_without_more_runs_once():
    runs = Runs("no")
    await run_round(runs, attempted("def g():\n    return 3\n"))
    assert len(runs.texts) == 1


async def test_where_one_function_may_change_nothing_else_does(monkeypatch):
    monkeypatch.setitem(globals(), "PROBLEM", replace(PROBLEM, exact=True))
    runs = Runs("no")
    await run_round(runs, attempted(WHOLE))
    assert len(runs.texts) == 1


async def test_what_must_not_run_is_not_read_otherwise():
    runs = Runs("no")
    await run_round(runs, attempted(WHOLE.replace("RATE + 1", "unknown + 1")))
    assert len(runs.texts) == 1
