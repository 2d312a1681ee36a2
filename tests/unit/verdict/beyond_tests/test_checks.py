"""When anything is looked at beyond the tests; tests/sandbox/test_other_inputs.py has what comes of it."""

from __future__ import annotations

import pytest

from greenloop.core.records.spec import Case, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.verification_inputs import VerificationInputs
from greenloop.verdict.beyond_tests.checks import (
    LONGEST_TESTS,
    MUTANT_SECONDS,
    BeyondTests,
    OtherInputs,
    measure_noticed,
    try_other_inputs,
)
from greenloop_sandbox import Execution, Limits
from scripted_proof import execution
from scripted_session import ScriptedSession, make_problem

OLD, NEW = {"m.py": "def f(n):\n    return n\n"}, {"m.py": "def f(n):\n    return n + 1\n"}
CASES = tuple(Case(id=f"test_m.py::test_{name}", path="test_m.py", line=1) for name in "abc")


def inputs(outcomes) -> VerificationInputs:
    spec = Spec(cases=CASES, selectors=("test_m.py",))
    return VerificationInputs(
        problem=make_problem(OLD["m.py"], "m.py", spec=spec),
        outcomes=outcomes,
        limits=Limits(),
        suite_seconds=1,
        encode=lambda texts: {path: text.encode() for path, text in texts.items()},
    )


async def asked(outcomes, *, seconds=0.1, own=OLD, files=NEW, after=None):
    """The selectors of the run that records calls, without those of the generated file; None: nothing ran."""
    session = ScriptedSession(Execution())
    verdict = Verdict(status=Status.PASSED, seconds=seconds)
    found = await try_other_inputs(inputs(outcomes), session, verdict, files, own=own, wanted=BeyondTests(after=after))
    assert found == OtherInputs()
    recording = [run for run in session.asked if any("greenloop_inputs" in each for each in run.selectors)]
    assert len(recording) <= 1  # no calls were recorded
    return [each for each in recording[0].selectors if "greenloop" not in each] if recording else None


async def test_tests_that_newly_pass_are_watched():
    outcomes = {CASES[0].id: "passed", CASES[1].id: "failed"}
    assert await asked(outcomes) == ["test_m.py::test_b", "test_m.py::test_c"]
    assert await asked(dict.fromkeys((case.id for case in CASES), "passed")) == ["test_m.py"]


@pytest.mark.parametrize(
    "more",
    [
        {"seconds": LONGEST_TESTS + 1},
        {"own": NEW},
        {"own": {"m.py": ""}},  # a new file has no older version
        {"files": {}},
        {"after": OLD},
    ],
    ids=["slow tests", "unchanged", "a new file", "no texts", "the workspace is unchanged"],
)
async def test_where_there_is_nothing_to_compare_nothing_runs(more):
    assert await asked({}, **more) is None


async def test_the_change_may_be_in_the_workspace_itself():
    assert await asked({}, files={}, after=NEW) is not None


@pytest.mark.parametrize(
    ("wanted", "seconds", "own"),
    [
        (BeyondTests(), 0.1, OLD),
        (BeyondTests(noticed=0.5), MUTANT_SECONDS + 1, OLD),
        (BeyondTests(noticed=0.5), 0.1, NEW),
    ],
    ids=["switched off", "slow tests", "unchanged"],
)
async def test_when_nothing_is_measured(wanted, seconds, own):
    session = ScriptedSession(Execution())
    verdict = Verdict(status=Status.PASSED, seconds=seconds)
    found = await measure_noticed(inputs({}), session, verdict, NEW, own=own, wanted=wanted)
    assert (found, session.asked) == (None, [])


async def test_what_no_test_noticed_is_counted():
    """A session in which every test passes, whatever the code is."""
    ids = dict.fromkeys((case.id for case in CASES), ("passed", None))
    session = ScriptedSession(execution(ids))
    verdict = Verdict(status=Status.PASSED, seconds=0.1)
    found = await measure_noticed(inputs({}), session, verdict, NEW, own=OLD, wanted=BeyondTests(noticed=0.5))
    assert found is not None
    assert found.tried == len(found.survivors) >= 5
    assert (found.killed, found.is_little, found.least) == (0, True, 0.5)
    assert {each.line for each in found.survivors} == {2}
    texts = {run.files["m.py"] for run in session.asked}
    assert len(texts) == found.tried + 1  # one of them is the new text itself
    assert all("::" not in selector for run in session.asked for selector in run.selectors)  # whole files of tests
