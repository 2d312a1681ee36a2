"""What the records of a reversal prove, and what they do not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from greenloop.core.records.problem import Problem
from greenloop.core.records.sandbox import Execution, Limits
from greenloop.core.records.spec import Case, Region, Spec
from greenloop.core.records.verdict import Status
from greenloop.verdict import reversal
from greenloop.verdict.inputs import VerificationInputs

CASE = "test_m.py::test_a"
TEST = "from m import f\n\n\ndef test_a():\n    assert f(1) == 2\n"
OWN, NEW = {"m.py": "def f(x):\n    return x\n"}, {"m.py": "def f(x):\n    return 2 * x\n"}


class Session:
    """Answers each run with these records; `own` are those over the user's own code."""

    name = "play"

    def __init__(self, *records, own=(), **about):
        self.records, self.own, self.about, self.runs = records, own, about, []

    async def run(self, run):
        self.runs.append(run)
        records = self.records if run.files.get("m.py") == NEW["m.py"].encode() else self.own
        numbered = tuple({**record, "seq": number} for number, record in enumerate(records))
        return replace(Execution(records=numbered, status=0), **self.about)


def values(*, unfit="", altered=(), results=1, ran=(("test_m.py", 5),), swallowed=0):
    record = {"kind": "values", "id": CASE, "results": results, "unfit": unfit, "altered": list(altered)}
    return {**record, "traced": True, "ran": [list(line) for line in ran], "swallowed": swallowed}


def again(outcome, mode="own", *, kind="AssertionError", unfit=""):
    error = kind if outcome == "failed" else None
    return {"kind": "reversed", "id": CASE, "mode": mode, "outcome": outcome, "type": error, "unfit": unfit}


async def reverse(session, *, failures=None, outcome="failed", regions=()):
    inputs = VerificationInputs(
        problem=Problem(
            root=Path("/w"),
            spec=Spec(cases=(Case(id=CASE, path="test_m.py", line=1),)),
            regions=regions,
            originals=OWN,
            files=OWN,
        ),
        outcomes={CASE: outcome},
        limits=Limits(),
        suite_seconds=10.0,
        encode=lambda texts: {path: text.encode() for path, text in texts.items()},
    )
    own = reversal.OwnCode(texts=OWN, tests={"test_m.py": TEST}, failures=failures or {})
    return await reversal.reverse(inputs, session, NEW, own)


async def test_a_case_that_fails_again_with_the_own_code_is_proven():
    session = Session(values(), again("failed"))
    failure, result = await reverse(session, failures={CASE: "AssertionError"})
    assert (failure, result.proven, result.unproven) == (None, {CASE}, {})
    assert session.runs[0].reversal.files == OWN
    assert session.runs[0].reversal.failing == (CASE,)


@pytest.mark.parametrize(
    ("records", "reason"),
    [
        ([values(), again("passed")], reversal.OWN_PASSES),
        ([values(), again("passed", "wrong"), again("passed", "nothing")], reversal.WRONG_PASSES),
        ([values(results=0), again("passed")], reversal.NEVER_CALLED),
        ([values(), again("failed", kind="NameError")], reversal.OTHER_FAILURE),
        ([values(), again("missing")], reversal.NOT_REACHED),
        ([values()], reversal.NOT_REACHED),
        ([], reversal.NOT_REACHED),
        ([values(), again("missing", unfit="f has no body")], "your own code cannot be put back: f has no body"),
        ([values(unfit="a Liar"), again("failed")], "it was given a Liar"),
    ],
)
async def test_every_other_case_has_a_reason(records, reason):
    failure, result = await reverse(Session(*records), failures={CASE: "AssertionError"})
    assert (failure, result.proven, result.unproven) == (None, frozenset(), {CASE: reason})


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (values(ran=()), "its assertion in line 5 never ran"),
        (values(swallowed=5), "its assertion in line 5 failed, and it passes all the same"),
    ],
)
async def test_a_pass_without_its_assertions_proves_nothing(record, reason):
    _, result = await reverse(Session(record, again("failed")))
    assert (result.unproven, result.unasserted) == ({CASE: reason}, {CASE: reason})


async def test_wrong_results_that_only_doing_nothing_reveals_are_enough():
    _, result = await reverse(Session(values(), again("passed", "wrong"), again("failed", "nothing")), outcome="passed")
    assert result.proven == {CASE}


async def test_a_case_that_passed_and_never_calls_the_changed_code_is_not_affected():
    record = values(results=0)
    _, result = await reverse(Session(record, again("passed", "wrong"), again("passed", "nothing")), outcome="passed")
    assert result.proven == {CASE}


async def test_own_code_that_hangs_unexpectedly_is_replaced_by_wrong_results():
    session = Session(values(), again("failed", "wrong"), killed="timeout")
    _, result = await reverse(session)
    assert [run.reversal.failing for run in session.runs] == [(CASE,), ()]
    assert result.proven == {CASE}


@pytest.mark.parametrize("ended", ["Timeout", "Crash"])
async def test_code_that_hung_or_crashed_is_not_put_back(ended):
    session = Session(values(), again("failed", "wrong"))
    await reverse(session, failures={CASE: ended})
    assert session.runs[0].reversal.failing == ()


async def test_what_only_the_candidate_replaces_is_tampering():
    altered = ["doctest.OutputChecker.check_output"]
    failure, _ = await reverse(Session(values(altered=altered), again("failed"), own=[values()]))
    assert failure.status is Status.TAMPERED
    assert failure.reason == f"{altered[0]} was replaced while {CASE} ran."
    failure, result = await reverse(Session(values(altered=altered), again("failed"), own=[values(altered=altered)]))
    assert (failure, result.proven) == (None, {CASE})


async def test_a_forged_report_is_tampering():
    failure, _ = await reverse(Session({"kind": "forged", "seq": -1}))
    assert failure.status is Status.TAMPERED


async def test_code_that_reaches_for_what_runs_it_proves_nothing():
    record = {**values(), "reached": ["all objects of the process"]}
    _, result = await reverse(Session(record, again("failed")))
    assert result.unproven == {CASE: "the new code reaches for all objects of the process"}
    assert set(result.suspicious) == {CASE}


@pytest.mark.parametrize(
    ("names", "asked"),
    [(["V.__eq__"], {"m.py": ("V.__eq__",)}), (["V.__eq__", "V.add"], {}), (["f"], {}), (["__getattr__"], {})],
)
async def test_a_special_method_is_asked_for_only_where_nothing_else_is(names, asked):
    session = Session(values(), again("failed"))
    await reverse(session, regions=tuple(Region(path="m.py", qualname=name, start=1, end=2) for name in names))
    assert session.runs[0].reversal.asked == asked
